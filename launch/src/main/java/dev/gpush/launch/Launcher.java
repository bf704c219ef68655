package dev.gpush.launch;

import dev.gpush.core.fabric.CheckLevel;
import dev.gpush.core.fabric.CheckReport;
import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.FabricPlans;
import dev.gpush.core.fabric.FabricPlans.UserVariable;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.LogRequest;
import dev.gpush.core.run.RunDifference;
import dev.gpush.core.run.RunOutput;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.core.run.Runs;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.Trace.Stage;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.check.GangCheck;
import dev.gpush.launch.fabric.gang.RunFabrics;
import dev.gpush.launch.fabric.gang.SessionFacts;
import dev.gpush.launch.journal.RunTalk;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.NodeCalls;
import dev.gpush.launch.node.OutputFolders;
import dev.gpush.launch.node.Pythons;
import dev.gpush.launch.plan.LaunchInput;
import dev.gpush.launch.plan.LaunchMaker;
import dev.gpush.launch.plan.LaunchMaker.ModeAndPythons;
import dev.gpush.launch.plan.LaunchMaker.ResolvedRun;
import dev.gpush.launch.plan.LaunchPlan;
import dev.gpush.launch.plan.Scripts;
import dev.gpush.launch.plan.SlotPlan;
import dev.gpush.launch.run.Attempts;
import dev.gpush.launch.run.ReplacedRuns;
import dev.gpush.launch.run.RunComparison;
import dev.gpush.launch.run.RunFetch;
import dev.gpush.launch.run.RunFollower;
import dev.gpush.launch.run.RunHistory;
import dev.gpush.launch.run.RunListing;
import dev.gpush.launch.run.RunRecord;
import dev.gpush.launch.run.RunStart;
import dev.gpush.launch.run.RunWatch;
import dev.gpush.launch.run.SessionTurn;
import dev.gpush.launch.words.BatchBody;
import dev.gpush.launch.words.RunWords;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The runs of one session. Thread-safe; one launch at a time claims slots, everything else runs
 * concurrently.
 *
 * <p>A run does not need the gateway: its state is on its nodes, and this class only starts,
 * watches and records it. After a restart, {@link #attach} finds all runs again.
 */
public final class Launcher implements AutoCloseable {
  /** How often a queued launch checks the slots, for runs that other gateways started. */
  private static final Duration LOOK_AGAIN = Duration.ofSeconds(2);

  /** How many numbers may be in use by runs of other gateways. */
  private static final int NUMBERS = 100;

  private final LaunchSite site;
  private final Clock clock;
  private final Tasks tasks;
  private final RunHistory history;
  private final RunListing listing;
  private final LaunchMaker maker;
  private final RunFiles files;
  private final RunFabrics fabrics;
  private final RunFollower follower;
  private final GangCheck check;
  private final Map<Integer, RunWatch> watches = new ConcurrentHashMap<>();
  private final ReplacedRuns replaced;

  /** One launch at a time: two would choose the same slots. Fair: the longest wait is next. */
  private final ReentrantLock launching = new ReentrantLock(true);

  private final Object ends = new Object();

  /**
   * @param plans of the network of runs
   * @param tasks its watchers are a group in it and end with {@link #close}; the runs continue
   */
  public Launcher(LaunchSite site, FabricPlans plans, Clock clock, Tasks tasks) {
    this.site = site;
    this.clock = clock;
    this.tasks = tasks.group("runs-" + site.name());
    this.history = new RunHistory(site.history());
    this.replaced = new ReplacedRuns(site, history, this.tasks);
    this.listing = new RunListing(site, this.tasks);
    this.fabrics = new RunFabrics(site, new SessionFacts(site, clock, this.tasks), plans);
    var pythons = new Pythons(site, this.tasks);
    this.maker = new LaunchMaker(site, pythons, new OutputFolders(site, this.tasks), this.fabrics);
    this.files = new RunFiles(site, maker, clock, this.tasks);
    this.check = new GangCheck(site, pythons, this.fabrics, this.tasks);
    this.follower = new RunFollower(site, this.tasks);
  }

  /** Calls this whenever a run begins, ends, or is in another state. */
  public void onChange(Runnable listener) {
    history.onChange(listener);
  }

  /**
   * Refuses a command that can never be launched, because its script does not exist.
   *
   * @param root the workspace's
   * @param folder the client's current folder
   */
  public static void check(List<String> words, Path root, Path folder) {
    Path inside = folder.startsWith(root) ? folder : root;
    RunWords parsed = RunWords.parse(words);
    Optional<Path> found = Scripts.find(parsed, root, inside);
    found.ifPresent(script -> Scripts.requireThere(script, inside));
    BatchBody.check(parsed, found);
  }

  /**
   * Finds the runs on these nodes, also those of other gateways, and watches those in progress.
   * Called when their links are up.
   */
  public void attach(Set<Integer> nodes) throws InterruptedException {
    launching.lockInterruptibly();
    try {
      // Those in progress first: nothing about older ones may keep them from being watched.
      listing.alive(nodes).forEach(onNode -> onNode.forEach(this::adopt));
      listing.all(nodes).forEach(onNode -> onNode.forEach(this::adopt));
      replaced.kill();
      for (RunRecord record : history.list()) {
        if (!record.state().isOver() && record.fits(site.nodes().size())) {
          watch(record, Optional.empty());
        }
      }
    } finally {
      launching.unlock();
    }
    fabrics.prepare();
  }

  /**
   * The plan that ranks on all nodes would get now.
   *
   * @param environment variables over those of the input
   */
  public FabricPlan plan(
      RunRequest.Command command, LaunchInput input, List<UserVariable> environment)
      throws InterruptedException {
    return check.plan(new GangCheck.Subject(command, input, environment));
  }

  /**
   * Checks the nodes as far as the level says. What uses all nodes waits until no other launch
   * claims slots, and keeps them free until it is done.
   */
  public CheckReport check(
      RunRequest.Command command,
      LaunchInput input,
      List<UserVariable> environment,
      CheckLevel level,
      Talk talk)
      throws InterruptedException {
    var subject = new GangCheck.Subject(command, input, environment);
    if (!level.includes(CheckLevel.COLLECTIVE)) {
      return check.check(subject, level, List.of(), talk);
    }
    launching.lockInterruptibly();
    try {
      var runs = new TreeSet<Integer>();
      busy().values().forEach(slots -> runs.addAll(slots.values()));
      return check.check(subject, level, runs, talk);
    } finally {
      launching.unlock();
    }
  }

  /** What is wrong with nodes that are new, from what they say in a short time. */
  public List<FabricFinding> problems(RunRequest.Command command, LaunchInput input)
      throws InterruptedException {
    return check.problems(new GangCheck.Subject(command, input, List.of()));
  }

  private void adopt(Json run) {
    RunRecord.from(run.object("spec").object("about"))
        .filter(record -> !watches.containsKey(record.number()))
        .filter(record -> record.fits(site.nodes().size()))
        .ifPresent(record -> history.adopt(record.in(RunView.State.RUNNING), run.flag("alive")));
  }

  /**
   * Starts a run on all its nodes or on none; returns as soon as all have started. The code is on
   * the nodes already.
   *
   * @param turn the turn of the caller; without it nothing is sent to the nodes
   * @throws GpushException with a {@link LaunchFailure}, or the failure of a node's link
   */
  public RunView launch(RunRequest request, LaunchInput input, SessionTurn turn, Talk talk)
      throws InterruptedException {
    Optional<RunRecord> repeated = history.repeated(request.command(), site.name());
    ResolvedRun run = maker.resolve(request, input, repeated);
    repeated.ifPresent(record -> LaunchMaker.sayNotRepeated(record, request, talk));
    ModeAndPythons decided = maker.decide(run, talk);
    try {
      return launchNow(run, decided, talk);
    } catch (GpushException full) {
      if (!run.isQueued()
          || !(full.failure() instanceof LaunchFailure.NoFreeSlots(_, var holders))) {
        throw full;
      }
      try {
        files.waits(input.generation());
        turn.release();
        try (Talk.Step _ = talk.phase(Stage.SLOTS, "waiting for " + String.join(", ", holders))) {
          return launchWhenFree(run, decided, turn, talk);
        }
      } finally {
        files.waitsNoMore(input.generation());
      }
    }
  }

  /** What {@link #launch} would start now, or its failure. Nothing is sent to the nodes. */
  public Runs.Preview.Launch preview(RunRequest request, LaunchInput input, Talk talk)
      throws InterruptedException {
    Optional<RunRecord> repeated = history.repeated(request.command(), site.name());
    ResolvedRun run = maker.resolve(request, input, repeated);
    return new LaunchPreview(site, maker, run).of(history.next(), busy(), talk);
  }

  private RunView launchNow(ResolvedRun run, ModeAndPythons decided, Talk talk)
      throws InterruptedException {
    launching.lockInterruptibly();
    try {
      SlotPlan slots = slots(run);
      try (Talk.Step _ = talk.phase(Stage.RANKS, "starting the ranks")) {
        return start(maker.plan(run, decided, slots, talk), run, talk).view();
      }
    } finally {
      launching.unlock();
    }
  }

  /** From a snapshot where the nodes have other files than when it began to wait. */
  private RunView launchOnItsFiles(ResolvedRun run, ModeAndPythons decided, Talk talk)
      throws InterruptedException, TimeoutException {
    if (!run.usesWorkspace() || files.areThere(run, slots(run))) {
      return launchNow(run, decided, talk);
    }
    talk.say(
        "the nodes have other files by now: this run gets those of G" + run.input().generation());
    ResolvedRun apart = run.fromSnapshot();
    return launchNow(apart, maker.decide(apart, talk), talk);
  }

  private SlotPlan slots(ResolvedRun run) throws InterruptedException {
    return SlotPlan.of(site.infos(), run.options().claim(), busy());
  }

  private Map<Integer, Map<String, Integer>> busy() throws InterruptedException {
    Map<Integer, Map<String, Integer>> busy = listing.busy();
    watches.values().forEach(watch -> watch.addSlots(busy));
    return busy;
  }

  private RunView launchWhenFree(
      ResolvedRun run, ModeAndPythons decided, SessionTurn turn, Talk talk)
      throws InterruptedException {
    while (true) {
      synchronized (ends) {
        ends.wait(LOOK_AGAIN.toMillis());
      }
      try {
        slots(run);
        turn.acquire();
        try {
          return launchOnItsFiles(run, decided, talk);
        } finally {
          turn.release();
        }
      } catch (TimeoutException silent) {
        // A node does not answer; its link may be back at the next look.
      } catch (GpushException failed) {
        if (!(failed.failure() instanceof LaunchFailure.NoFreeSlots)
            && !RunListing.isSilent(failed)) {
          throw failed;
        }
      }
    }
  }

  private RunRecord start(LaunchPlan plan, ResolvedRun run, Talk talk) throws InterruptedException {
    int number = history.next();
    for (int attempt = 0; attempt < NUMBERS; attempt++, number++) {
      RunRecord record = maker.record(plan, run, number, clock.now());
      boolean isStarted = false;
      try {
        history.put(record);
        RunRecord started = start(plan, run, record, talk);
        isStarted = true;
        return started;
      } catch (RunStart.NumberTaken taken) {
        // Another gateway's run; it is found by attach.
      } catch (GpushException refused) {
        throw maker.explained(refused, run);
      } finally {
        if (!isStarted) {
          history.remove(number);
        }
      }
    }
    throw new GpushException(new LaunchFailure.Refused(0, "exists", "run " + number));
  }

  private RunRecord start(LaunchPlan plan, ResolvedRun run, RunRecord record, Talk talk)
      throws InterruptedException {
    List<RunFiles.Asked> keeping = files.begin(record.launched().generation());
    RunStart.Left left = nodes -> leave(record, nodes, talk);
    List<Long> starts =
        start(plan, record, 0).start(false, () -> files.await(keeping, record), left);
    List<RunRecord.Part> parts = RunRecord.Part.started(plan.parts(), starts);
    RunRecord running = record.with(parts).with(talk.trace()).in(RunView.State.RUNNING);
    history.keep(running);
    var last = new AtomicReference<LaunchPlan>(plan);
    RunWatch.Again again =
        restart ->
            RunRecord.Part.started(
                plan.parts(),
                files.again(last, run, now -> start(now, record, restart).start(true)));
    watch(running, Optional.of(new RunWatch.Relaunch(again, plan.restarts())));
    return running;
  }

  private RunStart start(LaunchPlan plan, RunRecord record, int restart) {
    Json.Obj about = record.in(RunView.State.RUNNING).about();
    return new RunStart(
        plan.nodes().stream().map(node -> site.nodes().get(node.index()).calls()).toList(),
        record,
        port -> plan.specs(record.number(), port, restart, about),
        clock,
        tasks);
  }

  /** A run of what may go on, which ends there. */
  private void leave(RunRecord record, List<Integer> started, Talk talk)
      throws InterruptedException {
    List<RunRecord.Part> parts = started.stream().map(record.parts()::get).toList();
    RunRecord left = record.with(parts).in(RunView.State.STOPPING);
    history.leave(left);
    talk.say(RunTalk.mayContinue(left.number(), parts.stream().map(RunRecord.Part::node).toList()));
    watch(left, Optional.empty());
  }

  /** The record of a run that is not just being started. */
  private RunRecord settled(int run) throws InterruptedException {
    RunRecord record = record(Optional.of(run));
    if (record.state() != RunView.State.STARTING) {
      return record;
    }
    launching.lockInterruptibly();
    try {
      return record(Optional.of(run));
    } finally {
      launching.unlock();
    }
  }

  /** The watch of a run in progress, made if there is none. */
  private RunWatch watch(RunRecord record, Optional<RunWatch.Relaunch> relaunch)
      throws InterruptedException {
    var fresh = new RunWatch(site, history, record, relaunch, clock, tasks);
    Optional<RunWatch> present = Optional.ofNullable(watches.putIfAbsent(record.number(), fresh));
    if (present.isEmpty()) {
      fresh.start(() -> ended(record.number()));
    }
    return present.orElse(fresh);
  }

  private void ended(int number) {
    watches.remove(number);
    synchronized (ends) {
      ends.notifyAll();
    }
  }

  /** The newest first. */
  public List<RunView> list() {
    return history.list().stream().map(RunRecord::view).toList();
  }

  /** Those in progress, the oldest first, without what a failed start has left. */
  public List<RunView> running() {
    return list().reversed().stream()
        .filter(run -> !run.isOver() && !history.isLeft(run.number()))
        .toList();
  }

  /** What differed between two runs, from their records. */
  public List<RunDifference> differences(int first, int second) {
    return RunComparison.of(record(Optional.of(first)), record(Optional.of(second)));
  }

  /** The newest generation with which one of them began; 0 where none did. */
  public long newestGeneration() {
    return list().stream().mapToLong(RunView::generation).max().orElse(0);
  }

  /** By number, or the newest when empty. */
  public RunView find(Optional<Integer> run) {
    return record(run).view();
  }

  private RunRecord record(Optional<Integer> run) {
    return history.require(run, site.name());
  }

  /**
   * Gives the output of a run. Blocks; the output is called by one thread at a time, and may block.
   *
   * @return the run's exit status, empty while it has none
   * @throws GpushException with {@code Lost} when its end is not known
   */
  public Optional<Integer> follow(int run, LogRequest asked, RunOutput output)
      throws InterruptedException {
    RunRecord record = settled(run);
    RunRecord last =
        asked.follow() && !record.state().isOver()
            ? follower.follow(watch(record, Optional.empty()), asked, output)
            : follower.show(record, asked, output);
    if (last.state() == RunView.State.LOST) {
      int node =
          last.progress()
              .failure()
              .map(failure -> failure.where().node())
              .orElseGet(() -> last.parts().getFirst().node());
      throw new GpushException(new LaunchFailure.Lost(run, node));
    }
    return last.exit();
  }

  /**
   * Writes what the run has printed into files, one for each rank.
   *
   * @return how many bytes there are
   */
  public long fetch(int run, Path folder, Talk talk) throws InterruptedException {
    RunRecord record = settled(run);
    NodeCalls first = site.nodes().get(record.parts().getFirst().node()).calls();
    try (Talk.Step _ = talk.step("fetching the output of run " + run)) {
      return new RunFetch(site, tasks).fetch(record, Attempts.of(record, first), folder, talk);
    }
  }

  /** Asks all ranks to end, and returns when the run has ended. */
  public RunView stop(int run, String signal, Duration grace, Talk talk)
      throws InterruptedException {
    return stop(run, signal, grace, RunTalk.ASKED, talk);
  }

  /** The same for another reason than that the user asked for it. */
  public RunView stop(int run, String signal, Duration grace, String why, Talk talk)
      throws InterruptedException {
    RunRecord record = settled(run);
    if (record.state().isOver()) {
      return record.view();
    }
    RunWatch watch = watch(record, Optional.empty());
    watch.stopping();
    try (Talk.Step _ = talk.step("stopping run " + run)) {
      watch.stop(signal, grace, why);
      while (true) {
        RunRecord now = watch.await(watch.attempt());
        if (now.state().isOver() || now.state() == RunView.State.UNKNOWN) {
          return now.view();
        }
      }
    }
  }

  /** Stops watching. The runs continue. */
  @Override
  public void close() {
    tasks.close();
  }
}
