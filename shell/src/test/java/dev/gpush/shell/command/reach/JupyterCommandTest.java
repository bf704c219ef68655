package dev.gpush.shell.command.reach;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.run.RunRequest;
import dev.gpush.shell.command.Desk;
import java.util.List;
import java.util.Map;
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
  void withGpusItIsARunThatClaimsThem() {
    desk.sessions.add("gpus", Desk.PROJECT, 2, GpuRequest.parse("H100:4"));
    desk.runs.execPrintsFirst.add("/ws.gpush/jupyter\npython3\n-m\njupyterlab\n");
    desk.expect(
        """
        $ gpush jupyter --gpus 1 -s devbox
        2> gpush: devbox does not match this request
        2>   because gpus: it has cpu, you asked for 1
        2>   try: gpush up -s devbox --replace --gpus 1
        ? 1
        $ gpush jupyter -s gpus lab --gpus 2 --on 1 --print
        http://localhost:8891/lab?token=abc
        $ gpush runs -s gpus
        RUN  STATE    EXIT  RANKS  STARTED  TOOK  CODE  COMMAND
        1    running  -     1      0s ago   0s    G42   notebook
        $ gpush jupyter -s gpus --on 1 --print
        http://localhost:8891/?token=abc
        $ gpush jupyter -s gpus --on 1 --gpus 3
        2> gpush: gpush jupyter was not run
        2>   because node 1 has a notebook that claims 2, not 3; gpush jupyter -s gpus --on 1 --stop ends that first
        2>   try: gpush help jupyter
        ? 2
        $ gpush jupyter -s gpus --gpus 1
        2> gpush: gpush jupyter was not run
        2>   because node 0 has a Jupyter server that claims no GPUs; gpush jupyter -s gpus --on 0 --stop ends that first
        2>   try: gpush help jupyter
        ? 2
        $ gpush jupyter -s gpus --stop --on 1
        2> the Jupyter server of node 1 is stopped, with its kernels; 1:0, 1:1 are free
        """);
    RunRequest asked = desk.runs.launched.getLast();
    assertEquals(List.of("python3", "-m", "jupyterlab"), asked.command().words());
    assertEquals(Map.of("JUPYTER_RUNTIME_DIR", "/ws.gpush/jupyter"), asked.command().variables());
    assertEquals(List.of("1 TERM 10s"), List.copyOf(desk.runs.stops));
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
        2>   because KIND must be lab, notebook or server, not 'tree'
        2>   try: gpush help jupyter
        ? 2
        $ gpush jupyter --stop
        2> no Jupyter server that gpush started runs on node 0
        """);
  }
}
