package dev.gpush.shell.command.reach;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.shell.command.Desk;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What users read; the server itself is in the acceptance tests. */
final class JupyterCommandTest {
  private final Desk desk = new Desk();

  @BeforeEach
  void begin() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.execPrints = "{\"port\": 8890, \"base_url\": \"/\", \"token\": \"abc\"}";
  }

  @Test
  void itsPortIsForwardedUntilItIsStopped() {
    desk.expect(
        """
        $ gpush jupyter --print
        http://localhost:8890/?token=abc
        $ gpush jupyter lab --print --on 1
        http://localhost:8891/lab?token=abc
        $ gpush jupyter notebook --on 1 --json
        {
          "url": "http://localhost:8891/tree?token=abc",
          "node": 1,
          "port": 8890,
          "local": 8891,
          "token": "abc"
        }
        $ gpush jupyter --stop
        2> the Jupyter server of node 0 is stopped, with its kernels
        $ gpush forward
        http://localhost:8891 is port 8890 of node 1
        http://localhost:8891 is port 8890 of node 1
        """);
  }

  @Test
  void whyThereIsNoneIsSaid() {
    desk.runs.execStatus = 127;
    desk.expect(
        """
        $ gpush jupyter
        2> gpush: no Jupyter server was started on node 0
        2>   because the session's environment there has no jupyter-lab
        2>   try: gpush exec --on 0 -- python -m pip install jupyterlab
        ? 3
        $ gpush jupyter tree
        2> gpush: gpush jupyter was not run
        2>   because tree is none of lab, notebook, server
        2>   try: gpush help jupyter
        ? 2
        $ gpush jupyter --stop
        2> no Jupyter server that gpush started runs on node 0
        """);
  }
}
