package dev.gpush.shell.command;

import dev.gpush.core.fabric.CheckLevel;
import dev.gpush.core.fabric.CheckReport;
import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.FabricPlans.UserVariable;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.run.LaunchEvent;
import dev.gpush.core.run.LogRequest;
import dev.gpush.core.run.RunDifference;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunKind;
import dev.gpush.core.run.RunOutput;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunTarget;
import dev.gpush.core.run.RunTransport;
import dev.gpush.core.run.RunView;
import dev.gpush.core.run.Runs;
import dev.gpush.core.run.SaveListener;
import dev.gpush.core.run.SavedFiles;
import dev.gpush.core.sample.NodeReading;
import dev.gpush.core.sample.NodeStacks;
import dev.gpush.core.sample.Samples;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.talk.Streams;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.Trace;
import dev.gpush.core.task.ChangeSignal;
import dev.gpush.core.task.Clock;
import dev.gpush.core.text.Worded;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** Runs in memory: their output is a script, their end an exit status or a stop. */
public final class FakeRuns implements Runs {
  private final Clock clock;
  private final FakeSessions sessions;
  public final List<RunView> all = new ArrayList<>();
  public final List<RunTarget> targets = new ArrayList<>();
  public final List<RunRequest> launched = new ArrayList<>();
  List<RunDifference> differences = List.of();
  Optional<FabricPlan> plan = Optional.empty();

  Optional<CheckReport> report = Optional.empty();
  final List<CheckLevel> checked = new ArrayList<>();

  /** What is wrong with a new session. */
  List<FabricFinding> problems = List.of();

  /** The variables that plans were asked with. */
  final List<UserVariable> planned = new ArrayList<>();

  /** The samples that come one after the other; after the last one nothing comes. */
  public final LinkedBlockingQueue<List<NodeReading>> readings = new LinkedBlockingQueue<>();

  /** What each node tells of ranks: of runs, and of those that were started by hand. */
  public List<NodeStacks> stacks = List.of();

  public List<NodeStacks> byHand = List.of();

  /** What was asked to be sampled, and when that ended. */
  public final List<String> sampled = new CopyOnWriteArrayList<>();

  public final List<String> execs = new ArrayList<>();
  public final LinkedBlockingQueue<String> stops = new LinkedBlockingQueue<>();
  public final CountDownLatch followed = new CountDownLatch(1);

  /** What a terminal sees at one look after the other; the last one interrupts it. */
  public final Queue<Supplier<Picture>> pictures = new ArrayDeque<>();

  /** What a terminal sees for as long as it looks, in place of those. */
  public Optional<Pictures> changing = Optional.empty();

  /** What happens at each wait for a save, one after the other. */
  public final LinkedBlockingQueue<Save> saves = new LinkedBlockingQueue<>();

  /** Present: follow waits for a KILL. */
  public volatile Optional<CountDownLatch> untilKilled = Optional.empty();

  public Consumer<RunOutput> output =
      output -> {
        output.line(0, 0, false, "hello".getBytes(StandardCharsets.UTF_8));
        output.line(1, 1, true, "warning".getBytes(StandardCharsets.UTF_8));
      };

  public Optional<Integer> exit = Optional.of(0);
  public Optional<Failure> failure = Optional.empty();

  /** Who failed first, of every run here. */
  public Optional<RunFailure> verdict = Optional.empty();

  /** The network of every run here. */
  public Optional<RunTransport> transport = Optional.empty();

  /** How long the start of every run here took. */
  public Trace trace = Trace.none();

  /** What the next launch tells of sessions before anything else. */
  public List<LaunchEvent> events = List.of();

  /** What happens in the next launch before anything is started; it may be interrupted there. */
  public Runnable launching = () -> {};

  /** Runs while a start that was interrupted is undone. */
  public Runnable undoing = () -> {};

  /** The folders for the output of runs. */
  final List<Path> fetched = new ArrayList<>();

  /** What was asked of the output, in order. */
  final List<LogRequest> asks = new ArrayList<>();

  Optional<RuntimeException> bug = Optional.empty();
  public int execStatus;

  /** What the next commands print, before any other. */
  public final LinkedBlockingQueue<String> execPrintsFirst = new LinkedBlockingQueue<>();

  /** What any command prints. */
  public String execPrints = "n1\n";

  /** A wait for a save, until there is one. */
  public interface Save {
    SavedFiles await(int run, long generation, SaveListener listener) throws InterruptedException;
  }

  /**
   * @param sessions where it launches; it adds one when there is none
   */
  FakeRuns(Clock clock, FakeSessions sessions) {
    this.clock = clock;
    this.sessions = sessions;
  }

  public RunView add(int number, String state, Optional<Integer> ended, String... words) {
    RunView run =
        new RunView(
            number,
            "devbox",
            RunKind.PROGRAM,
            new RunView.Progress(
                Worded.of(RunView.State.class, state).orElseThrow(),
                ended,
                clock.now().minus(Duration.ofMinutes(3)),
                ended.map(_ -> clock.now().minus(Duration.ofSeconds(108))),
                Optional.empty(),
                Optional.empty(),
                trace),
            new RunView.Launched(
                List.of(words), 2, List.of("0:0", "1:0"), 42, "ranks", "/usr/bin/python3", false),
            "run " + number + " · 2 ranks · python 3.12 · ~/proj · G42");
    all.add(run);
    return run;
  }

  private void failing() {
    failure.ifPresent(
        now -> {
          throw new GpushException(now);
        });
  }

  /** What any run would start. */
  public Preview.Launch preview =
      new Preview.Launch("run 8 · 1 rank", List.of(), List.of(), Optional.empty());

  @Override
  public Preview preview(RunTarget target, RunRequest request, Talk talk)
      throws InterruptedException {
    return sessions
        .find(target.session(), request.command().folder())
        .<Preview>map(
            session ->
                new Preview.Ready(
                    session.name(), sessions.syncPreview, List.of("make deps"), preview))
        .orElseGet(() -> new Preview.NewSession(sessions.outlook()));
  }

  @Override
  public RunView launch(
      RunTarget target, RunRequest request, Consumer<LaunchEvent> listener, Talk talk)
      throws InterruptedException {
    targets.add(target);
    launched.add(request);
    if (!sessions.has(target.session(), request.command().folder())) {
      listener.accept(new LaunchEvent.SessionMade(sessions.make(target, request)));
    }
    events.forEach(listener);
    launching.run();
    if (Thread.interrupted()) {
      undoing.run();
      throw new InterruptedException();
    }
    failing();
    String[] words = request.command().words().toArray(new String[0]);
    return add(7, "running", Optional.empty(), words);
  }

  @Override
  public RunView launch(SessionName session, RunRequest request, Talk talk) {
    launched.add(request);
    failing();
    failure = Optional.empty();
    if (request.kind() == RunKind.NOTEBOOK) {
      return notebook(request);
    }
    String[] words = request.command().words().toArray(new String[0]);
    return add(all.getLast().number() + 1, "running", Optional.empty(), words);
  }

  private RunView notebook(RunRequest request) {
    String node = request.claim().on().orElseThrow();
    int gpus = request.claim().gpus().orElseThrow().count();
    var run =
        new RunView(
            all.size() + 1,
            "devbox",
            RunKind.NOTEBOOK,
            RunView.Progress.starting(clock.now()).in(RunView.State.RUNNING),
            new RunView.Launched(
                request.command().words(),
                1,
                IntStream.range(0, gpus).mapToObj(slot -> node + ":" + slot).toList(),
                42,
                "command",
                "",
                false),
            "");
    all.add(run);
    return run;
  }

  @Override
  public SavedFiles awaitSave(
      SessionName session, int run, RunRequest request, long generation, SaveListener listener)
      throws InterruptedException {
    return saves.take().await(run, generation, listener);
  }

  @Override
  public List<RunView> list(SessionName session) {
    bug.ifPresent(
        now -> {
          throw now;
        });
    return all.stream().map(this::judged).toList();
  }

  private RunView judged(RunView run) {
    return new RunView(
        run.number(),
        run.session(),
        run.kind(),
        new RunView.Progress(
            run.state(),
            run.exit(),
            run.started(),
            run.progress().ended(),
            verdict,
            transport,
            trace),
        run.launched(),
        run.header());
  }

  @Override
  public List<RunDifference> differences(SessionName session, int first, int second) {
    find(session, Optional.of(first));
    find(session, Optional.of(second));
    return first == second ? List.of() : differences;
  }

  @Override
  public FabricPlan plan(
      SessionName session, RunRequest.Command command, List<UserVariable> environment, Talk talk) {
    failing();
    planned.addAll(environment);
    return plan.orElseThrow();
  }

  @Override
  public CheckReport check(
      SessionName session,
      RunRequest.Command command,
      List<UserVariable> environment,
      CheckLevel level,
      Talk talk) {
    failing();
    checked.add(level);
    return report.orElseThrow();
  }

  @Override
  public List<FabricFinding> problems(SessionName session, RunRequest.Command command, Talk talk) {
    return problems;
  }

  @Override
  public RunView find(SessionName session, Optional<Integer> number) {
    return all.stream()
        .filter(run -> number.isEmpty() || run.number() == number.get())
        .findFirst()
        .map(this::judged)
        .orElseThrow(
            () ->
                new GpushException(
                    new LaunchFailure.UnknownRun(
                        session.text(),
                        number.map(Object::toString).orElse(""),
                        all.stream().map(run -> "" + run.number()).toList())));
  }

  @Override
  public Optional<Integer> follow(SessionName session, int run, LogRequest asked, RunOutput to)
      throws InterruptedException {
    asks.add(asked);
    Optional<CountDownLatch> end = untilKilled;
    output.accept(to);
    followed.countDown();
    if (end.isPresent()) {
      end.get().await();
    }
    return exit;
  }

  @Override
  public long fetch(SessionName session, int run, Path folder, Talk talk) {
    failing();
    fetched.add(folder);
    return 12_345_678;
  }

  @Override
  public RunView stop(SessionName session, int run, String signal, Duration grace, Talk talk) {
    failing();
    stops.add(run + " " + signal + " " + grace.toSeconds() + "s");
    if (signal.equals("KILL")) {
      untilKilled.ifPresent(CountDownLatch::countDown);
    }
    RunView before = find(session, Optional.of(run));
    return new RunView(
        run,
        before.session(),
        before.kind(),
        new RunView.Progress(
            RunView.State.STOPPED,
            Optional.of(130),
            before.started(),
            Optional.of(clock.now()),
            Optional.empty(),
            Optional.empty(),
            trace),
        before.launched(),
        before.header());
  }

  @Override
  public int exec(
      SessionName session,
      List<Integer> nodes,
      List<String> words,
      Map<String, String> environment,
      RunOutput to) {
    failing();
    execs.add(session + " " + nodes + " " + words);
    for (int node : nodes) {
      execPrints
          .lines()
          .forEach(line -> to.line(node, node, false, line.getBytes(StandardCharsets.UTF_8)));
    }
    return execStatus;
  }

  @Override
  public int exec(
      SessionName session,
      int node,
      List<String> words,
      boolean tty,
      Map<String, String> environment,
      Streams streams)
      throws InterruptedException {
    failing();
    execs.add(session + " " + node + " " + words + (tty ? " tty" : ""));
    try {
      String prints = Optional.ofNullable(execPrintsFirst.poll()).orElse(execPrints);
      streams.out().write(prints.getBytes(StandardCharsets.UTF_8));
    } catch (IOException gone) {
      throw new UncheckedIOException(gone);
    }
    return execStatus;
  }

  @Override
  public Samples sample(SessionName session, Optional<Integer> node, Duration interval) {
    failing();
    sampled.add(session + " " + node.map(one -> "node " + one + " ").orElse("") + interval);
    return new Samples() {
      @Override
      public List<NodeReading> next(Duration limit) throws InterruptedException {
        return readings.take();
      }

      @Override
      public void close() {
        sampled.add("closed");
      }
    };
  }

  @Override
  public List<NodeStacks> stacks(SessionName session, Optional<Integer> run) {
    failing();
    return run.isPresent() ? stacks : byHand;
  }

  @Override
  public int copy(SessionName session, int node, Streams streams) {
    failing();
    execs.add(session + " " + node + " copy");
    return execStatus;
  }

  @Override
  public Pictures pictures() {
    return changing.orElseGet(this::listed);
  }

  private Pictures listed() {
    return new Pictures() {
      private final ChangeSignal changes = new ChangeSignal();

      @Override
      public ChangeSignal changes() {
        return changes;
      }

      @Override
      public Picture of(Optional<String> name, Path folder) {
        Picture next = pictures.remove().get();
        if (pictures.isEmpty()) {
          Thread.currentThread().interrupt();
        }
        changes.signal();
        return next;
      }
    };
  }
}
