package dev.gpush.shell.command.reach;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.run.RunKind;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.core.run.Runs;
import dev.gpush.core.session.SessionView;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A Jupyter server that is a run, because it claims GPUs: no other run gets them until it is
 * stopped or its node is given back.
 */
record NotebookRun(SessionView session, int node, RunView run) {
  /** For kernels to be told. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  /** The one that is in progress on this node. */
  static Optional<NotebookRun> on(Call call, SessionView session, int node) {
    return runs(call).list(session.name()).stream()
        .filter(run -> run.kind() == RunKind.NOTEBOOK && !run.isOver())
        .filter(run -> run.nodes().contains(node))
        .findFirst()
        .map(run -> new NotebookRun(session, node, run));
  }

  /** Starts one on that node with this many GPUs, unless one like it runs there. */
  static NotebookRun start(
      Call call, SessionView session, int node, GpuRequest gpus, List<String> kinds)
      throws InterruptedException {
    if (gpus.count() > session.gpus().count()) {
      var lacking =
          new SessionFailure.Difference("gpus", session.gpus().toString(), gpus.toString());
      throw new GpushException(new SessionFailure.Differs(session.name().text(), List.of(lacking)));
    }
    Optional<NotebookRun> there = on(call, session, node);
    if (there.isPresent()) {
      return there.get().having(call, gpus);
    }
    JupyterServer.Program program =
        JupyterServer.program(call, session, node, kinds)
            .orElseThrow(() -> another(call, node, "has a Jupyter server that claims no GPUs"));
    var command =
        new RunRequest.Command(
            program.words(),
            session.root(),
            Optional.empty(),
            call.environment(),
            Map.of("JUPYTER_RUNTIME_DIR", program.folder()));
    var claim =
        new RunRequest.Claim(
            Optional.empty(), Optional.of(gpus), Optional.of(String.valueOf(node)), false);
    RunView run =
        runs(call)
            .launch(
                session.name(),
                new RunRequest(command, claim, RunRequest.Ranks.usual(), false)
                    .as(RunKind.NOTEBOOK),
                call.talk());
    return new NotebookRun(session, node, run);
  }

  private NotebookRun having(Call call, GpuRequest gpus) {
    if (run.slots().size() != gpus.count()) {
      throw another(
          call, node, "has a notebook that claims " + run.slots().size() + ", not " + gpus.count());
    }
    return this;
  }

  private static GpushException another(Call call, int node, String has) {
    return Values.bad(
        "jupyter",
        "node "
            + node
            + " "
            + has
            + "; "
            + call.commands().of("jupyter --on " + node + " --stop")
            + " ends that first");
  }

  /** Its server, once it answers. */
  JupyterServer server(Call call) throws InterruptedException {
    while (true) {
      Optional<JupyterServer> server = JupyterServer.await(call, session, node);
      if (server.isPresent()) {
        return server.get();
      }
      if (runs(call).find(session.name(), Optional.of(run.number())).isOver()) {
        String words = String.join(" ", run.words().stream().limit(3).toList());
        throw new GpushException(
            new LaunchFailure.NoJupyter(
                node,
                words,
                "run "
                    + run.number()
                    + " has ended; "
                    + call.commands().of("logs " + run.number())
                    + " says why"));
      }
    }
  }

  /** Returns when it has ended, and its GPUs are free again. */
  RunView stop(Call call) throws InterruptedException {
    return runs(call).stop(session.name(), run.number(), "TERM", GRACE, call.talk());
  }

  private static Runs runs(Call call) {
    return call.services().runs();
  }
}
