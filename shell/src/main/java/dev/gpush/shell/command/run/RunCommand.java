package dev.gpush.shell.command.run;

import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.run.LaunchEvent;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunTarget;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.time.DurationText;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.UnsupportedKeys;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.command.session.DownCommand;
import dev.gpush.shell.text.FailureText;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "run",
    header = "Run a script on all nodes and stream its output",
    customSynopsis = "gpush run [OPTIONS] [SCRIPT [ARGS]]",
    description = {
      "Brings the workspace to the nodes, launches all ranks and prints their lines, each with its"
          + " rank in front. Options end at the script's name: every later word goes to the script."
          + " train.py and -m module become ranks, one per GPU; anything else runs once per node."
          + " Without a script, the last run is repeated. Without a session, gpush makes one, and"
          + " keeps it for the next run; while it waits in a queue you may close the terminal.",
      "Ctrl-C interrupts the ranks; a second one kills them. The exit status is that of the"
          + " earliest failing rank, or 255 if gpush itself fails."
    },
    footer = {
      "$ gpush run train.py --lr 3e-4",
      "run 7 · 2 ranks · python 3.12 · ~/proj · G42",
      "[0] step 10 loss 3.1",
      "[1] step 10 loss 3.2"
    })
public final class RunCommand implements Action.OfWords {
  @Option(
      names = "--nodes",
      paramLabel = "N",
      description = "number of nodes; of a new session: its size")
  Optional<String> nodes;

  @Option(
      names = "--gpus",
      paramLabel = "GPUS",
      description = "GPUs to claim per node; of a new session: its GPUs")
  Optional<String> gpus;

  @Option(
      names = "--on",
      paramLabel = "SLOTS",
      description = "claim these: 0:4-7 (node 0, GPUs 4 to 7), 0-1 (nodes)")
  Optional<String> on;

  @Option(
      names = "--python",
      paramLabel = "PYTHON",
      description = "another interpreter or environment")
  Optional<String> python;

  @Option(
      names = "--nproc",
      paramLabel = "N",
      description = "ranks per node, not one per GPU that it claims")
  Optional<String> nproc;

  @Option(
      names = RunVariables.OPTION,
      paramLabel = "NAME[=VALUE]",
      description = "a variable of the ranks; without a value, yours; repeatable")
  List<String> env = List.of();

  @Option(
      names = "--restarts",
      paramLabel = "N",
      description = "start all ranks again after a failure, up to N times")
  Optional<String> restarts;

  @Option(names = "--backend", paramLabel = "BACKEND", description = "where a new session is made")
  Optional<String> backend;

  @Option(names = "--ranks", paramLabel = "RANKS", description = "show only these: 0,1 or 0-3")
  Optional<String> ranks;

  @Option(names = "--overwrite", description = "replace files that were changed on the nodes")
  boolean overwrite;

  @Option(names = "--queue", description = "wait until what it claims is free")
  boolean queue;

  @Option(names = "--nccl-debug", description = "NCCL logs into files; name the network it uses")
  boolean ncclDebug;

  @Option(names = "--detach", description = "return when all ranks have started")
  boolean detach;

  @Option(names = "--down", description = "give the session back when the run has ended")
  boolean down;

  private List<String> words = List.of();

  @Override
  public void words(List<String> given) {
    words = List.copyOf(given);
  }

  @Override
  public int run(Call call) throws InterruptedException {
    if (detach && down) {
      throw Values.bad("run", "--down waits for the end of the run, and --detach does not");
    }
    if (!words.isEmpty() && words.getFirst().matches(".*\\.(sbatch|sky\\.ya?ml)")) {
      throw Values.later(
          "run", "running a " + words.getFirst().replaceFirst("^.*?\\.", "") + " file");
    }
    Set<Integer> shown = Values.numbers("--ranks", ranks);
    Optional<Integer> count = Values.nodes(nodes);
    Optional<GpuRequest> each = gpus.map(GpuRequest::parse);
    UnsupportedKeys.say(call);

    RunView run =
        call.services()
            .runs()
            .launch(
                new RunTarget(call.newName(), backend),
                request(call, count, each),
                event -> tell(call, event),
                call.talk());
    SessionName session = SessionName.parse(run.session());
    call.say(run.header());
    if (detach) {
      call.say("follow: gpush logs -f " + run.number() + " · end: gpush stop " + run.number());
      return 0;
    }
    int status = follow(call, session, run.number(), shown);
    if (down) {
      giveBack(call, session);
    }
    return status;
  }

  private void tell(Call call, LaunchEvent event) {
    switch (event) {
      case LaunchEvent.SessionGone(var session, var reason) ->
          call.say(session + " is gone: " + reason);
      case LaunchEvent.SessionMade(var made) ->
          call.say(
              "made "
                  + made.name()
                  + " ("
                  + made.shape()
                  + " on "
                  + made.backend()
                  + "); "
                  + afterwards(call, made));
      case LaunchEvent.SessionGivenBack(var session, var end) ->
          DownCommand.sayGivenBack(call, session, end);
      case LaunchEvent.SessionKept(var session, var failure) -> writeKept(call, session, failure);
    }
  }

  private String afterwards(Call call, SessionView session) {
    if (down) {
      return "it is given back after this run";
    }
    String idle =
        call.services()
            .configs()
            .load(call.folder())
            .text("lease.idle")
            .or(() -> session.idleLeft().map(DurationText::coarse))
            .map(time -> "it stays warm for " + time + " idle")
            .orElse("it stays warm");
    return idle + "; gpush down gives it back";
  }

  private RunRequest request(Call call, Optional<Integer> count, Optional<GpuRequest> each) {
    return new RunRequest(
        new RunRequest.Command(
            words, call.folder(), python, call.environment(), RunVariables.parse(call, env)),
        new RunRequest.Claim(count, each, on, queue),
        ranks(),
        overwrite,
        ncclDebug ? RunRequest.NcclLog.FILES : RunRequest.NcclLog.UNCHANGED);
  }

  private RunRequest.Ranks ranks() {
    return new RunRequest.Ranks(
        nproc.map(text -> Values.number("--nproc", text, 1, RunRequest.Ranks.MOST_PER_NODE)),
        restarts
            .map(text -> Values.number("--restarts", text, 0, RunRequest.Ranks.MOST_RESTARTS))
            .orElse(0));
  }

  private static int follow(Call call, SessionName session, int run, Set<Integer> shown)
      throws InterruptedException {
    Optional<Integer> status;
    try {
      status = FollowedRun.follow(call, session, run, shown);
    } catch (GpushException lost) {
      if (lost.failure() instanceof LaunchFailure.Lost) {
        Verdict.write(call, session, run);
      }
      throw lost;
    }
    if (status.isPresent()) {
      Verdict.write(call, session, run);
      return status.get();
    }
    Verdict.write(call, session, run);
    throw new GpushException(new LaunchFailure.Lost(run, 0));
  }

  /** The run has its exit status already, which a failure here must not hide. */
  private static void giveBack(Call call, SessionName session) throws InterruptedException {
    try {
      DownCommand.down(call, session, false);
    } catch (GpushException failed) {
      writeKept(call, session, failed.failure());
    }
  }

  private static void writeKept(Call call, SessionName session, Failure failure) {
    List<String> words = List.of("down", "-s", session.text());
    call.console().write(true, new FailureText(words).of(failure).bytes(call.console().look()));
  }
}
