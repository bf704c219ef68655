package dev.gpush.gateway.session.saves;

import dev.gpush.core.failure.FailureClause;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import dev.gpush.core.time.DurationText;
import dev.gpush.sync.NodeFailed;
import dev.gpush.sync.WorkspaceSync;
import dev.gpush.sync.WorkspaceSync.Looked;
import dev.gpush.sync.WorkspaceSync.Pushed;
import dev.gpush.sync.node.SyncNode;
import dev.gpush.sync.watch.Changed;
import dev.gpush.sync.watch.WorkspaceWatch;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Brings saves to the nodes of one session while nobody types a command.
 *
 * <p>One thread waits for changes, looks at the folders in which they were, and pushes. It asks
 * nothing: what a push would ask about is held, with the reason, and the next {@code run} or {@code
 * sync} asks. A node that fails is left out until it is back, so that the others have each save. It
 * takes the session's turn for each push, so no save arrives between the push of a run and its
 * launch; while a run is on that holds saves, it only looks.
 */
public final class LiveSync implements AutoCloseable {
  /** There is nothing to do, so only the watch wakes it. */
  private static final Duration IDLE = Duration.ofMinutes(10);

  /** While it waits for a run to end, or for the session to be ready. */
  private static final Duration LOOK_AGAIN = Duration.ofMillis(500);

  /** After something that only a user can change; the next change tries at once. */
  private static final Duration RETRY = Duration.ofSeconds(30);

  /** Nothing is tried again sooner. */
  private static final Duration LEAST = Duration.ofMillis(50);

  private static final Duration SETTLE_PAUSE = Duration.ofMillis(5);

  private static final Duration TURN_LIMIT = Duration.ofSeconds(1);

  /** What a user decides has no wait of its own. */
  private static final String ASKS = "; gpush sync asks";

  private static final System.Logger LOG = System.getLogger("gpush.sync");

  private final String name;
  private final Surroundings session;
  private final WorkspaceSync sync;
  private final WorkspaceWatch watch;
  private final List<SyncNode> nodes;
  private final NodeStandings standings;
  private final Clock clock;
  private final Tasks tasks;
  private final BusyPaths busy = new BusyPaths();

  // of the thread
  private Optional<Set<Path>> unseen = Optional.empty();
  private Duration pause = Duration.ZERO;
  private boolean isKnown;

  private final SaveState state;

  /**
   * @param name of the session, for the log
   * @param standings shared with the session, whose commands push too
   */
  public LiveSync(
      String name,
      Surroundings session,
      WorkspaceSync sync,
      WorkspaceWatch watch,
      List<SyncNode> nodes,
      NodeStandings standings,
      SyncView.Mode mode,
      Clock clock,
      Tasks tasks) {
    this.name = name;
    this.session = session;
    this.sync = sync;
    this.watch = watch;
    this.nodes = List.copyOf(nodes);
    this.standings = standings;
    this.state = new SaveState(mode);
    this.clock = clock;
    this.tasks = tasks.group("live");
  }

  /** Begins with a look at everything: what was missed is found. */
  public void start() {
    if (mode() != SyncView.Mode.OFF) {
      tasks.start("saves", this::run);
    }
  }

  // ---- for others

  public SyncView.Mode mode() {
    return state.mode();
  }

  /** Sends nothing by itself until {@link #resume}. */
  public void pause() {
    state.mode(SyncView.Mode.PAUSED);
    watch.wake();
  }

  public void resume() {
    state.mode(SyncView.Mode.LIVE);
    watch.wake();
  }

  /** A command has brought everything to all nodes. */
  public void pushed(long generation) {
    standings.hold(all(), generation);
    state.sent(Map.of());
    watch.wake();
  }

  private List<Integer> all() {
    return IntStream.range(0, nodes.size()).boxed().toList();
  }

  /** A node has another agent, and perhaps another disk. */
  public void replaced(int node) {
    standings.forget(node);
    watch.wake();
  }

  /** A node's link is up again, or is cut. */
  public void linkChanged(int node, boolean isUp) {
    if (isUp) {
      standings.expect(node);
      watch.wake();
    } else {
      sync.abandon(nodes.get(node));
    }
  }

  /** A run has ended, or something else that saves may wait for. */
  public void wake() {
    watch.wake();
  }

  /** Closing it has saves sent again. */
  public interface Left extends AutoCloseable {
    @Override
    void close();
  }

  /** Saves are only noticed: a watched run brings them to the nodes itself. */
  public Left leaveToWatchedRun() {
    watchers(1);
    return () -> watchers(-1);
  }

  private void watchers(int more) {
    state.watchers(more);
    watch.wake();
  }

  /**
   * Waits until something is pending.
   *
   * @return false when changes are not noticed here: then the caller has to look itself
   */
  public boolean awaitPending(Duration limit) throws InterruptedException {
    return watch.coverage().isComplete() && state.awaitPending(limit);
  }

  /** As {@link #view()}, after a moment in which a save that is on its way may arrive. */
  public SyncView view(Duration moment) {
    long end = clock.nanos() + moment.toNanos();
    SyncView now = view();
    try {
      while (now.mode() == SyncView.Mode.LIVE
          && !now.isSynced()
          && now.held().isEmpty()
          && watch.coverage().isComplete()
          && clock.nanos() < end) {
        Thread.sleep(SETTLE_PAUSE);
        now = view();
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
    return now;
  }

  public SyncView view() {
    boolean isCalm = watch.isCalm() && watch.coverage().isComplete();
    Optional<String> closed = session.closed();
    SaveState.Moment moment = state.moment();
    boolean isOff = moment.mode() == SyncView.Mode.OFF;
    List<SyncView.Node> views = standings.views();
    return new SyncView(
        moment.mode(),
        moment.mode() == SyncView.Mode.LIVE
            && isCalm
            && closed.isEmpty()
            && moment.isSettled()
            && standings.areEqual(),
        views.stream().flatMap(node -> node.generation().stream()).max(Long::compare),
        views,
        moment.pending(),
        isOff
            ? List.of()
            : closed.map(why -> List.of(new SyncView.Held("", why))).orElse(moment.held()),
        isOff ? "" : watching());
  }

  private String watching() {
    return watch.coverage().isComplete()
        ? ""
        : "looks every "
            + DurationText.of(watch.delay())
            + ", because "
            + watch.coverage().reason();
  }

  // ---- the thread

  private void run() throws InterruptedException {
    boolean isFirst = true;
    unseen = Optional.empty();
    while (true) {
      Optional<Changed> next =
          isFirst ? Optional.of(Changed.everything()) : watch.next(pauseUntilNext());
      isFirst = false;
      next.ifPresent(this::remember);
      if (session.closed().isPresent()) {
        pause = LOOK_AGAIN;
        continue;
      }
      try {
        step(next.map(Changed::open).orElse(Set.of()));
      } catch (GpushException failed) {
        hold(why(failed));
      } catch (RuntimeException bug) {
        LOG.log(System.Logger.Level.ERROR, "saves are not sent, session=" + name, bug);
        unseen = Optional.empty();
        hold("it failed; see gpush gateway logs");
      }
    }
  }

  private Duration pauseUntilNext() {
    if (!pause.isZero()) {
      return pause;
    }
    long now = clock.nanos();
    return Stream.of(busy.next(state.leftPaths(), now), standings.next(now))
        .flatMap(Optional::stream)
        .map(each -> each.compareTo(LEAST) < 0 ? LEAST : each)
        .reduce(IDLE, (one, other) -> one.compareTo(other) < 0 ? one : other);
  }

  private void remember(Changed next) {
    state.unsure();
    if (next.folders().isEmpty()) {
      unseen = Optional.empty();
    } else if (unseen.isPresent()) {
      var all = new HashSet<>(unseen.orElseThrow());
      all.addAll(next.folders().orElseThrow());
      unseen = Optional.of(all);
    }
  }

  /** Looks at what has changed, and sends it or says why not. */
  private void step(Set<String> open) throws InterruptedException {
    var waiting = new HashSet<>(open);
    waiting.addAll(busy.waiting(clock.nanos()));
    pause = Duration.ZERO;
    if (!isKnown) {
      sync.learn(nodes).ifPresent(generation -> standings.hold(all(), generation.counter()));
      isKnown = true;
    }
    Looked looked = look(waiting);
    if (looked.pending().isEmpty() && standings.areEqual()) {
      state.looked(looked, Optional.empty(), false);
      watch.dealtWith();
    } else {
      send(looked);
    }
  }

  private Looked look(Set<String> waiting) throws InterruptedException {
    boolean isAll = unseen.isEmpty();
    long begun = clock.nanos();
    Looked looked = sync.lookAgain(unseen, waiting);
    if (isAll) {
      watch.scanned(Duration.ofNanos(clock.nanos() - begun));
    }
    unseen = Optional.of(Set.of());
    return looked;
  }

  private void send(Looked looked) throws InterruptedException {
    if (state.isLeftToOthers()) {
      String why = mode() == SyncView.Mode.PAUSED ? "paused" : "a watched run sends it";
      state.looked(looked, Optional.of(why), false);
      watch.dealtWith();
      return;
    }
    Optional<Surroundings.Turn> turn = session.tryBegin();
    if (turn.isEmpty()) {
      state.looked(looked, Optional.of("another command has the session"), false);
      session.awaitTurn(TURN_LIMIT);
      pause = Duration.ofMillis(1);
      return;
    }
    try (Surroundings.Turn _ = turn.get()) {
      Optional<String> run = session.holdingRun();
      if (run.isPresent()) {
        state.looked(looked, run, false);
        pause = LOOK_AGAIN;
        watch.dealtWith();
        return;
      }
      push(looked);
    }
  }

  /** Sends to all that can be reached; one that fails is left out, and the others go on. */
  private void push(Looked looked) throws InterruptedException {
    state.looked(looked, Optional.empty(), true);
    for (int node : all()) {
      if (session.isLost(node)) {
        standings.leaveOut(node, "it is lost", clock.nanos());
      }
    }
    boolean isChecked = standings.common().isEmpty();
    while (true) {
      List<Integer> present = standings.present(clock.nanos());
      if (present.isEmpty()) {
        state.looked(looked, Optional.of("no node can be reached"), false);
        return;
      }
      try {
        Pushed pushed = sync.pushLooked(present.stream().map(nodes::get).toList(), isChecked);
        standings.hold(present, pushed.generation().counter());
        busy.sent(pushed.paths(), clock.nanos());
        session.sent(present);
        state.sent(looked.left());
        watch.dealtWith();
        return;
      } catch (NodeFailed failed) {
        standings.leaveOut(
            failed.node(), FailureClause.of(failed.failure().failure()), clock.nanos());
      }
    }
  }

  private static String why(GpushException failed) {
    return switch (failed.failure()) {
      case UsageFailure.NobodyToAsk(var question, _) -> question + ASKS;
      case SyncFailure.TooMuch _ -> FailureClause.of(failed.failure()) + ASKS;
      default -> FailureClause.of(failed.failure());
    };
  }

  private void hold(String why) {
    pause = RETRY;
    state.hold(why);
  }

  @Override
  public void close() {
    state.close();
    watch.close();
    tasks.close();
  }
}
