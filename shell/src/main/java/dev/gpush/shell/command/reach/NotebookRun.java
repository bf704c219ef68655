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
import dev.gpush.shell.command.call.Values;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A Jupyter server that is a run, because it claims GPUs: no other run gets them until it is
 * stopped or its node is given back.
 */
record NotebookRun(JupyterServer at, RunView run) {
  /** For kernels to be told. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  /** The one that is in progress on this node. */
  static Optional<NotebookRun> on(JupyterServer at) {
    return runs(at).list(at.session().name()).stream()
        .filter(run -> run.kind() == RunKind.NOTEBOOK && !run.isOver())
        .filter(run -> run.nodes().contains(at.node()))
        .findFirst()
        .map(run -> new NotebookRun(at, run));
  }

  /** Starts one on that node with this many GPUs, unless one like it runs there. */
  static NotebookRun start(JupyterServer at, GpuRequest gpus, List<String> kinds)
      throws InterruptedException {
    SessionView session = at.session();
    if (gpus.count() > session.gpus().count()) {
      var lacking =
          new SessionFailure.Difference("gpus", session.gpus().toString(), gpus.toString());
      throw new GpushException(new SessionFailure.Differs(session.name().text(), List.of(lacking)));
    }
    Optional<NotebookRun> there = on(at);
    if (there.isPresent()) {
      return there.get().having(gpus);
    }
    JupyterServer.Program program =
        at.program(kinds)
            .orElseThrow(() -> another(at, "has a Jupyter server that claims no GPUs"));
    var command =
        new RunRequest.Command(
            program.words(),
            session.root(),
            Optional.empty(),
            at.call().environment(),
            Map.of("JUPYTER_RUNTIME_DIR", program.folder()));
    var claim =
        new RunRequest.Claim(
            Optional.empty(), Optional.of(gpus), Optional.of("" + at.node()), false);
    RunView run =
        runs(at)
            .launch(
                session.name(),
                new RunRequest(command, claim, RunRequest.Ranks.usual(), false)
                    .as(RunKind.NOTEBOOK),
                at.call().talk());
    return new NotebookRun(at, run);
  }

  private NotebookRun having(GpuRequest gpus) {
    if (run.slots().size() != gpus.count()) {
      throw another(
          at, "has a notebook that claims " + run.slots().size() + ", not " + gpus.count());
    }
    return this;
  }

  private static GpushException another(JupyterServer at, String has) {
    String stop = at.call().commands().of("jupyter --on " + at.node() + " --stop");
    return Values.bad(
        "jupyter", "node " + at.node() + " " + has + "; " + stop + " ends that first");
  }

  /** Its server, once it answers. */
  JupyterServer.Running server() throws InterruptedException {
    while (true) {
      Optional<JupyterServer.Running> server = at.await();
      if (server.isPresent()) {
        return server.get();
      }
      if (runs(at).find(at.session().name(), Optional.of(run.number())).isOver()) {
        String words = String.join(" ", run.words().stream().limit(3).toList());
        throw new GpushException(
            new LaunchFailure.NoJupyter(
                at.node(),
                words,
                "run "
                    + run.number()
                    + " has ended; "
                    + at.call().commands().of("logs " + run.number())
                    + " says why"));
      }
    }
  }

  /** Returns when it has ended, and its GPUs are free again. */
  RunView stop() throws InterruptedException {
    return runs(at).stop(at.session().name(), run.number(), "TERM", GRACE, at.call().talk());
  }

  private static Runs runs(JupyterServer at) {
    return at.call().services().runs();
  }
}
