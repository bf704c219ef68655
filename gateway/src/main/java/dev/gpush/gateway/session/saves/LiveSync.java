package dev.gpush.gateway.session.saves;

import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.session.Sessions.Came;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.sync.Homecoming;
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

  /**
   * After something that only a user can change: for the first time, then longer; the next save
   * tries at once.
   */
  private static final Duration RETRY = Duration.ofSeconds(30);

  /** Nothing is tried again sooner. */
  private static final Duration LEAST = Duration.ofMillis(50);

  private static final Duration TURN_LIMIT = Duration.ofSeconds(1);

  /** Appended where the user must answer. */
  private static final String ASKS = "; gpush sync asks";

  private static final String OTHER = "another command has the session";

  private static final System.Logger LOG = System.getLogger("gpush.sync");

  private final String name;
  private final SessionPort session;
  private final WorkspaceSync sync;
  private final WorkspaceWatch watch;
  private final List<SyncNode> nodes;
  private final NodeGenerations generations;
  private final Clock clock;
  private final Tasks tasks;
  private final BusyPaths busy = new BusyPaths();
  private final SessionPush push;
  private final NodesAside aside;
  private final FileUse use;
  private final SavesView view;

  // confined to the saves thread
  private boolean isOpen;
  private volatile boolean isLeftThere;
  private volatile Optional<String> edits = Optional.empty();
  private Optional<Set<Path>> unseen = Optional.empty();
  private Duration pause = Duration.ZERO;
  private boolean isUnreadable;
  private boolean isKnown;
  private Backoff retry = Backoff.none();
  private String lastRoot = "";
  private String failedWhy = "";

  /** A user has sent something, or a node has another disk: what was held may go now. */
  private volatile boolean isExpected;

  private final SaveState state;
  private final NodeEdits nodeEdits;

  /**
   * @param name of the session, for the log
   * @param generations shared with the session, whose commands push too
   * @param push shared in the same way
   */
  public LiveSync(
      String name,
      SessionPort session,
      WorkspaceSync sync,
      WorkspaceWatch watch,
      List<SyncNode> nodes,
      NodeGenerations generations,
      SessionPush push,
      SyncView.Mode mode,
      Clock clock,
      Tasks tasks) {
    this.name = name;
    this.session = session;
    this.sync = sync;
    this.watch = watch;
    this.nodes = List.copyOf(nodes);
    this.generations = generations;
    this.state = new SaveState(mode, session::changed);
    this.clock = clock;
    this.tasks = tasks.group("live");
    this.push = push;
    this.aside = new NodesAside(name, sync, nodes, generations, watch::wake, clock, this.tasks);
    this.use = new FileUse(session, this.tasks);
    this.nodeEdits = new NodeEdits(session, sync, nodes, push, use, clock);
    this.view = new SavesView(session, watch, state, generations, sync, this::incoming, clock);
    sync.home().listen(state::came);
  }

  /** Begins with a look at everything: what was missed is found. */
  public void start() {
    if (mode() != SyncView.Mode.OFF) {
      sync.there().listen(watch::wake);
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
    isExpected = true;
    sync.there().due();
    watch.wake();
  }

  /**
   * A command has brought everything to all nodes.
   *
   * @param begun the {@link NodeGenerations#moment} before
   */
  public void pushed(long generation, long begun) {
    generations.hold(generations.all(), generation, begun);
    state.sent(Map.of(), Optional.empty());
    isExpected = true;
    watch.wake();
  }

  /** A person has done something with the files. */
  public void used() {
    use.byAPerson();
  }

  /** A node has another agent, and perhaps another disk. */
  public void replaced(int node, boolean isEmpty) {
    generations.replaced(node, isEmpty);
    isExpected = true;
    watch.wake();
  }

  /** A node's link is up again, or is cut. */
  public void linkChanged(int node, boolean isUp) {
    generations.away(node, !isUp);
    if (isUp) {
      generations.expect(node);
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
    return watch.lacking().isEmpty() && state.awaitPending(limit);
  }

  /** After a moment in which a save that is on its way may arrive. */
  public SyncView view(Duration moment) {
    return view.after(moment);
  }

  /** What was changed on the editors' node and is here by now. */
  public Came came() {
    return state.came();
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
      isOpen = session.closed().isEmpty();
      if (!isOpen) {
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
    long now = clock.nanos();
    Optional<Duration> left = pause.isZero() ? generations.next(now) : Optional.empty();
    boolean bringsHome = !isUnreadable && bringsHome();
    Optional<Duration> look = bringsHome ? nodeEdits.next(now) : Optional.empty();
    return Stream.of(busy.next(state.leftPaths(), now), left, look)
        .flatMap(Optional::stream)
        .map(each -> each.compareTo(LEAST) < 0 ? LEAST : each)
        .reduce(
            pause.isZero() ? IDLE : pause, (one, other) -> one.compareTo(other) < 0 ? one : other);
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
    if (isExpected) {
      isExpected = false;
      retry = Backoff.none();
    }
    if (!isKnown && retry.isOver(clock.nanos())) {
      long begun = generations.moment();
      sync.learn(nodes)
          .ifPresent(
              generation -> generations.hold(generations.all(), generation.counter(), begun));
      isKnown = true;
    }
    Looked looked;
    try {
      looked = look(waiting);
      isUnreadable = false;
    } catch (GpushException unreadable) {
      // Costs the nodes nothing.
      isUnreadable = true;
      pause = RETRY;
      state.hold(why(unreadable));
      return;
    }
    sendIfDue(bringHome(looked, waiting));
  }

  private void sendIfDue(Looked looked) throws InterruptedException {
    if (!looked.root().equals(lastRoot)) {
      lastRoot = looked.root();
      retry = Backoff.none();
      generations.saved();
    }
    if (looked.pending().isEmpty() && !generations.areWanting(clock.nanos())) {
      if (edits.isEmpty()) {
        retry = Backoff.none();
      }
      watch.dealtWith();
      state.looked(looked, edits, false);
      if (isLeftThere && bringsHome()) {
        pushLeft(looked);
      }
    } else {
      send(looked);
    }
  }

  /** What was changed on the editors' node comes home first; what cannot, a push names. */
  private Looked bringHome(Looked looked, Set<String> waiting) throws InterruptedException {
    if (!bringsHome()) {
      return looked;
    }
    Optional<Homecoming.Came> came;
    try {
      came = nodeEdits.bring(edits.isPresent() && retry.isOver(clock.nanos()));
    } catch (NodeFailed failed) {
      aside.put(failed);
      return looked;
    } catch (GpushException failed) {
      edits = Optional.of(why(failed)); // What is saved here goes to the nodes all the same.
      return looked;
    }
    if (came.isEmpty()) {
      return looked;
    }
    if (came.get().isOfAll()) {
      edits = Optional.empty();
      isLeftThere = came.get().isLeft();
    }
    if (came.get().folders().isEmpty()) {
      return looked;
    }
    unseen = Optional.of(came.get().folders());
    return look(waiting);
  }

  /** On any thread. */
  private SyncView.Incoming incoming() {
    boolean isLeft = isLeftThere || edits.isPresent();
    if (!isLeft && !nodeEdits.isAhead()) {
      return SyncView.Incoming.NONE;
    }
    boolean isWaiting = isLeft || state.isLeftToOthers() || session.closed().isPresent();
    return isWaiting ? SyncView.Incoming.WAITING : SyncView.Incoming.COMING;
  }

  private boolean bringsHome() {
    return isOpen
        && mode() == SyncView.Mode.LIVE
        && !state.isLeftToOthers()
        && !push.isStopped()
        && generations.present(clock.nanos()).contains(sync.editNode());
  }

  /** Has a push say why something stays on the editors' node, or bring it home. */
  private void pushLeft(Looked looked) throws InterruptedException {
    Optional<SessionPort.Turn> turn = session.tryBegin();
    if (turn.isEmpty()) {
      pause = LOOK_AGAIN;
      return;
    }
    try (SessionPort.Turn _ = turn.get()) {
      if (session.holdingRun().isEmpty()) {
        isLeftThere = false;
        push(looked, true);
      }
    } catch (GpushException failed) {
      edits = Optional.of(why(failed));
      throw failed;
    }
  }

  private Looked look(Set<String> waiting) throws InterruptedException {
    long begun = clock.nanos();
    Looked looked = sync.rescan(unseen, waiting);
    watch.looked(unseen, Duration.ofNanos(clock.nanos() - begun));
    unseen = Optional.of(Set.of());
    return looked;
  }

  private void send(Looked looked) throws InterruptedException {
    if (state.isLeftToOthers()) {
      String why = mode() == SyncView.Mode.PAUSED ? "paused" : "a watched run sends it";
      watch.dealtWith();
      state.looked(looked, Optional.of(why), false);
      return;
    }
    if (!retry.isOver(clock.nanos())) {
      pause = retry.left(clock.nanos());
      watch.dealtWith();
      state.looked(looked, Optional.of(failedWhy), false);
      return;
    }
    Optional<SessionPort.Turn> turn = push.isStopped() ? Optional.empty() : session.tryBegin();
    if (turn.isEmpty()) {
      state.looked(looked, Optional.of(OTHER), false);
      session.awaitTurn(TURN_LIMIT);
      pause = Duration.ofMillis(1);
      return;
    }
    try (SessionPort.Turn _ = turn.get()) {
      Optional<String> run = session.holdingRun();
      if (run.isPresent()) {
        watch.dealtWith();
        state.looked(looked, run, false);
        pause = LOOK_AGAIN;
        return;
      }
      List<Integer> present = generations.present(clock.nanos());
      push(looked, generations.common(present).isEmpty());
    }
  }

  /**
   * Sends to all that can be reached; one that fails is left out, and the others go on.
   *
   * @param isChecked the nodes look at everything first
   */
  private void push(Looked looked, boolean isChecked) throws InterruptedException {
    state.looked(looked, Optional.empty(), true);
    aside.putLost(session);
    while (true) {
      List<Integer> present = generations.present(clock.nanos());
      if (present.isEmpty()) {
        state.looked(looked, Optional.of("no node can be reached"), false);
        return;
      }
      try {
        long begun = generations.moment();
        List<SyncNode> those = present.stream().map(nodes::get).toList();
        Optional<Pushed> done = push.run(() -> sync.pushLooked(those, isChecked));
        if (done.isEmpty()) {
          state.looked(looked, Optional.of(OTHER), false);
          pause = LEAST;
          return;
        }
        Pushed pushed = done.get();
        generations.hold(present, pushed.generation().counter(), begun);
        busy.sent(pushed.paths(), clock.nanos());
        use.saved(pushed.paths(), busy);
        watch.dealtWith();
        state.sent(looked.left(), edits);
        pause = isLeftThere ? LEAST : pause;
        retry = Backoff.none();
        return;
      } catch (NodeFailed failed) {
        aside.put(failed);
      }
    }
  }

  private static String why(GpushException failed) {
    return switch (failed.failure()) {
      case UsageFailure.NobodyToAsk(var question, _) -> question + ASKS;
      case SyncFailure.TooMuch _ -> FailureText.clause(failed.failure()) + ASKS;
      default -> FailureText.clause(failed.failure());
    };
  }

  private void hold(String why) {
    retry = retry.failed(RETRY, clock.nanos());
    pause = retry.pause();
    failedWhy = why;
    state.hold(why);
  }

  @Override
  public void close() {
    state.close();
    watch.close();
    tasks.close();
  }
}
