package dev.gpush.shell.command.run;

import dev.gpush.core.config.TaskFile;
import dev.gpush.core.failure.ExitStatus;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.run.LaunchEvent;
import dev.gpush.core.run.RunKind;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunTarget;
import dev.gpush.core.run.RunView;
import dev.gpush.core.run.Runs;
import dev.gpush.core.session.BatchHeaders;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.Trace.Stage;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Work;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.UnsupportedKeys;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.command.session.DownCommand;
import dev.gpush.shell.command.session.ScriptHeaders;
import dev.gpush.shell.command.session.UpCommand;
import dev.gpush.shell.console.SaidOnce;
import dev.gpush.shell.render.Documents;
import dev.gpush.shell.render.Previews;
import dev.gpush.shell.render.TraceText;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "run",
    header = "Run a script on all nodes and stream its output",
    customSynopsis = "gpush run [OPTIONS] [SCRIPT [ARGS]]",
    description = {
      "Brings the workspace to the nodes, launches all ranks and prints their lines, each with its"
          + " rank in front. Options end at the script's name: every later word goes to the script."
          + " train.py and -m module become ranks, one per GPU; job.sbatch and mpirun run on node 0"
          + " and start processes on all; task.sky.yaml and anything else run once per node."
          + " Without a script, the last run is repeated; --at G41 runs the files of that"
          + " generation, and without a script repeats its run. Without a session, gpush makes one, and"
          + " keeps it for the next run; while it waits in a queue you may close the terminal.",
      "On a terminal a line that several ranks print alike is shown once, with who printed it. A"
          + " file or a pipe gets every line of every rank. With --json each line is a document;"
          + " with --detach the run is one.",
      "Ctrl-C interrupts the ranks; a second one kills them. In the shell of gpush, Ctrl-Z leaves"
          + " a run that has started, and the run goes on. The exit status is that of the earliest"
          + " failing rank, or 255 if gpush itself fails."
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
      names = RunRequest.Command.LAUNCHER,
      paramLabel = "HOW",
      description = "ray: Ray on all nodes; sbatch: a batch script")
  Optional<String> launcher;

  @Option(
      names = "--restarts",
      paramLabel = "N",
      description = "start all ranks again after a failure, up to N times")
  Optional<String> restarts;

  @Option(names = "--warm", description = "fork ranks from interpreters that have done the imports")
  boolean warm;

  @Option(names = "--snapshot", description = "run a copy of the files; saves go on meanwhile")
  boolean snapshot;

  @Option(
      names = "--at",
      paramLabel = "GENERATION",
      description = "run the files of G41; alone: repeat its run")
  Optional<String> at;

  @Option(names = "--backend", paramLabel = "BACKEND", description = "where a new session is made")
  Optional<String> backend;

  @Option(names = "--ranks", paramLabel = "RANKS", description = "show only these: 0,1 or 0-3")
  Optional<String> ranks;

  @Option(names = "--all-ranks", description = "every rank's lines on a terminal, alike or not")
  boolean allRanks;

  @Option(names = "--overwrite", description = "replace files that were changed on the nodes")
  boolean overwrite;

  @Option(names = "--queue", description = "wait until what it claims is free")
  boolean queue;

  @Option(names = "--nccl-debug", description = "NCCL logs into files; name the network it uses")
  boolean ncclDebug;

  @Option(names = "--watch", description = "start again after each save; Ctrl-C leaves")
  boolean watch;

  @Option(names = "--detach", description = "return when all ranks have started; with --snapshot")
  boolean detach;

  @Option(names = "--down", description = "give the session back when the run has ended")
  boolean down;

  @Option(names = "--dry-run", description = "show what would start and be sent; start nothing")
  boolean dryRun;

  public static final List<String> LAUNCHERS = List.of("ray", RunRequest.Command.BATCH);

  private List<String> words = List.of();

  /** The session that was made for this run. */
  private Optional<SessionName> made = Optional.empty();

  @Override
  public void words(List<String> given) {
    words = List.copyOf(given);
  }

  @Override
  public int run(Call call) throws InterruptedException {
    if (detach && down) {
      throw Values.bad("run", "--down waits for the end of the run, and --detach does not");
    }
    if (detach && watch) {
      throw Values.bad("run", "--watch follows the run, and --detach does not");
    }
    Optional<String> first = words.stream().findFirst();
    boolean isBatch = first.filter(word -> isBatch(call, word)).isPresent();
    Optional<String> taskFile = first.filter(word -> word.matches(".*\\.sky\\.ya?ml"));
    Optional<Long> generation = generation(isBatch || taskFile.isPresent());
    Set<Integer> shown = Values.numbers("--ranks", ranks);
    Optional<BatchHeaders> script =
        first.filter(_ -> isBatch).map(file -> ScriptHeaders.read(call, file));
    Optional<TaskFile> task = taskFile.map(file -> task(call, file));
    Optional<Integer> count =
        Values.nodes(nodes)
            .or(() -> script.flatMap(BatchHeaders::nodes))
            .or(() -> task.flatMap(TaskFile::nodes));
    Optional<GpuRequest> each =
        gpus.map(GpuRequest::parse)
            .or(() -> script.flatMap(BatchHeaders::gpus))
            .or(() -> task.flatMap(TaskFile::gpus));
    UnsupportedKeys.say(call);

    RunRequest request =
        request(call, count, each, script.map(headers -> headers.tasks().orElse(1)), task)
            .at(generation);
    if (dryRun) {
      RunTarget target = target(call, script);
      return look(call, generation.isEmpty() ? target : target.on(call.session().name()), request);
    }
    var talk = new SaidOnce(call.talk());
    RunView run =
        generation.isPresent()
            ? call.services().runs().launch(call.session().name(), request, talk)
            : launch(call, target(call, script), request, talk);
    SessionName session = SessionName.parse(run.session());
    call.say(run.header());
    var choice = new OutputChoice(shown, allRanks, call.common().json);
    if (detach && call.common().json) {
      call.print(Documents.run(run, call.now()));
    } else {
      tellTrace(call, run, choice);
    }
    if (detach) {
      String number = "" + run.number();
      call.say(
          "follow: "
              + call.commands().of("logs -f " + number)
              + " · end: "
              + call.commands().of("stop " + number));
      return 0;
    }
    Work<Optional<Integer>, RuntimeException> following =
        watch
            ? () -> new WatchedRun(call, request, choice, talk).follow(run)
            : () -> follow(call, run, choice);
    Optional<Integer> status = down ? giveBackAfter(call, session, following) : following.run();
    return status.orElse(ExitStatus.LEFT.number());
  }

  private RunView launch(Call call, RunTarget target, RunRequest request, Talk talk)
      throws InterruptedException {
    try {
      return call.services().runs().launch(target, request, event -> tell(call, event), talk);
    } catch (InterruptedException stopped) {
      if (down && made.isPresent()) {
        Thread.interrupted(); // Ctrl-C again, while the start was undone.
        giveBackIf(call.invocation().isCancelled(), call, made.get());
      }
      throw stopped;
    }
  }

  private static Optional<Integer> giveBackAfter(
      Call call, SessionName session, Work<Optional<Integer>, RuntimeException> following)
      throws InterruptedException {
    Optional<Integer> status;
    try {
      status = following.run();
    } catch (GpushException failed) {
      if (failed.failure() instanceof LaunchFailure.Lost(var run, _)) {
        // Where no node could be asked, its ranks may go on.
        RunView now = call.services().runs().find(session, Optional.of(run));
        giveBackIf(now.isOver(), call, session);
      } else if (!(failed.failure() instanceof SessionFailure.Gone)) {
        DownCommand.sayStays(call, session, "stays");
      }
      throw failed;
    } catch (InterruptedException left) {
      DownCommand.sayStays(call, session, "stays");
      throw left;
    }
    giveBackIf(status.isPresent(), call, session);
    return status;
  }

  private static int look(Call call, RunTarget target, RunRequest request)
      throws InterruptedException {
    Runs.Preview preview = call.services().runs().preview(target, request, call.talk());
    if (call.common().json) {
      call.print(Previews.json(preview, call.failures()));
    }
    switch (preview) {
      case Runs.Preview.NewSession(var place) -> {
        if (!call.common().json) {
          call.print("would get a session first:\n");
          UpCommand.print(call, place);
        }
        return UpCommand.status(place);
      }
      case Runs.Preview.Ready ready -> {
        if (!call.common().json) {
          Previews.lines(ready, call.zone()).forEach(line -> call.print(line + "\n"));
        }
        SyncCommand.requireNoneHeld(ready.files());
        return 0;
      }
    }
  }

  static void tellTrace(Call call, RunView run, OutputChoice choice) {
    if (!choice.isJson()) {
      call.printTrace(run.trace());
    } else if (call.common().verbose) {
      call.printLine(Documents.traced(run));
    }
  }

  /**
   * By its name, by the option, or by what is in it, which sbatch takes of Python programs, too.
   */
  private boolean isBatch(Call call, String file) {
    return file.endsWith(BatchHeaders.SUFFIX)
        || launcher
            .map(RunRequest.Command.BATCH::equals)
            .orElseGet(() -> !file.endsWith(".py") && ScriptHeaders.areIn(call, file));
  }

  /** One session knows it, and of its scripts nothing is known here. */
  private Optional<Long> generation(boolean isScript) {
    if (at.isEmpty()) {
      return Optional.empty();
    }
    if (watch) {
      throw Values.bad("run", "--watch runs what is saved, and --at what was saved before");
    }
    if (isScript) {
      throw Values.bad(
          "run", "--at repeats " + words.getFirst() + " only without its name: gpush run --at G41");
    }
    return at.map(text -> Values.generation("--at", text));
  }

  private RunTarget target(Call call, Optional<BatchHeaders> script) {
    return new RunTarget(
        call.newName(),
        backend,
        script.map(BatchHeaders::natives).orElse(List.of()),
        script.flatMap(BatchHeaders::time));
  }

  private void tell(Call call, LaunchEvent event) {
    switch (event) {
      case LaunchEvent.SessionGone(var session, var reason) ->
          call.say(session + " is gone: " + reason);
      case LaunchEvent.SessionMade(var session) -> {
        made = Optional.of(session.name());
        call.say(
            "made "
                + session.name()
                + " ("
                + session.shape()
                + " on "
                + session.backend()
                + "); "
                + afterwards(call, session));
      }
      case LaunchEvent.SessionGivenBack(var session, var end) ->
          DownCommand.sayGivenBack(call, session, end);
      case LaunchEvent.SessionKept(var session, var failure) ->
          DownCommand.writeKept(call, session, failure);
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
    return idle + "; " + call.commands().of("down") + " gives it back";
  }

  private RunRequest request(
      Call call,
      Optional<Integer> count,
      Optional<GpuRequest> each,
      Optional<Integer> tasks,
      Optional<TaskFile> task) {
    Map<String, String> variables = new TreeMap<>(task.map(TaskFile::variables).orElse(Map.of()));
    variables.putAll(RunVariables.parse(call, env));
    task.ifPresent(file -> requireValues(file, variables.keySet()));
    return new RunRequest(
        new RunRequest.Command(
            task.map(TaskFile::words).orElseGet(() -> launched(tasks.isPresent())),
            call.folder(),
            python,
            call.environment(),
            variables),
        new RunRequest.Claim(count, each, on, queue),
        ranks(tasks),
        overwrite,
        ncclDebug ? RunRequest.NcclLog.FILES : RunRequest.NcclLog.UNCHANGED,
        RunKind.PROGRAM);
  }

  private List<String> launched(boolean isBatch) {
    boolean isMarked = !isBatch || words.getFirst().endsWith(BatchHeaders.SUFFIX);
    return launcher
        .or(() -> isMarked ? Optional.empty() : Optional.of(RunRequest.Command.BATCH))
        .map(
            name ->
                Stream.concat(Stream.of(RunRequest.Command.LAUNCHER, name), words.stream())
                    .toList())
        .orElse(words);
  }

  private TaskFile task(Call call, String file) {
    if (words.size() > 1) {
      throw Values.bad("run", file + " takes no arguments; --env gives its variables a value");
    }
    TaskFile task = call.services().configs().task(file, call.folder().resolve(file));
    task.unused().forEach(key -> call.say("not used: " + key));
    return task;
  }

  private void requireValues(TaskFile task, Set<String> given) {
    List<UsageFailure.BadLine> missing =
        task.missing().entrySet().stream()
            .filter(variable -> !given.contains(variable.getKey()))
            .map(Map.Entry::getValue)
            .sorted(Comparator.comparingInt(UsageFailure.BadLine::line))
            .toList();
    if (!missing.isEmpty()) {
      throw new GpushException(new UsageFailure.BadCommands(words.getFirst(), missing));
    }
  }

  /**
   * @param tasks per node, of a batch script
   */
  private RunRequest.Ranks ranks(Optional<Integer> tasks) {
    return new RunRequest.Ranks(
        nproc
            .map(text -> Values.number("--nproc", text, 1, RunRequest.Ranks.MOST_PER_NODE))
            .or(() -> tasks),
        restarts
            .map(text -> Values.number("--restarts", text, 0, RunRequest.Ranks.MOST_RESTARTS))
            .orElse(0),
        warm,
        snapshot || detach);
  }

  /** Empty when the user left it. */
  private static Optional<Integer> follow(Call call, RunView run, OutputChoice choice)
      throws InterruptedException {
    SessionName session = SessionName.parse(run.session());
    try {
      Optional<Integer> status = FollowedRun.follow(call, run, choice);
      if (status.isPresent()) {
        end(call, session, run.number(), choice);
      }
      return status;
    } catch (GpushException lost) {
      if (lost.failure() instanceof LaunchFailure.Lost) {
        end(call, session, run.number(), choice);
      }
      throw lost;
    }
  }

  /** Writes how a run ended. */
  static void end(Call call, SessionName session, int run, OutputChoice choice) {
    RunView ended = call.services().runs().find(session, Optional.of(run));
    if (choice.isJson()) {
      call.printLine(Documents.end(ended));
      return;
    }
    Verdict.write(call, ended);
    if (call.common().verbose) {
      ended
          .trace()
          .phase(Stage.OUTPUT)
          .ifPresent(
              phase -> call.say("the first output came after " + TraceText.time(phase.took())));
    }
  }

  /** The run has its exit status already, which a failure here must not hide. */
  private static void giveBackIf(boolean isOver, Call call, SessionName session)
      throws InterruptedException {
    if (!isOver) {
      DownCommand.sayStays(call, session, "stays");
      return;
    }
    try {
      DownCommand.down(call, session, false);
    } catch (GpushException failed) {
      DownCommand.writeKept(call, session, failed.failure());
    } catch (InterruptedException stopped) {
      DownCommand.sayStays(call, session, "is not given back yet");
      throw stopped;
    }
  }
}
