package dev.gpush.gateway.session.saves;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.task.Clock;
import dev.gpush.sync.Homecoming.Came;
import dev.gpush.sync.NodeFailed;
import dev.gpush.sync.WorkspaceSync;
import dev.gpush.sync.home.NodeWatch;
import dev.gpush.sync.node.SyncNode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Brings home what is changed on the editors' node, also while a run is on there: the laptop is no
 * rank. The node says when something has changed. Confined to the saves thread, but for {@link
 * #isAhead}.
 */
final class NodeEdits {
  /** While a command has the session. */
  private static final Duration SOON = Duration.ofMillis(500);

  private final SessionPort session;
  private final WorkspaceSync sync;
  private final SyncNode node;
  private final SessionPush push;
  private final FileUse use;
  private final Clock clock;
  private final BusyPaths busy = new BusyPaths();
  private LookRest rest;
  private boolean isBlocked;
  private volatile Optional<Long> againAt = Optional.empty();
  private volatile boolean isLooking;

  NodeEdits(
      SessionPort session,
      WorkspaceSync sync,
      List<SyncNode> nodes,
      SessionPush push,
      FileUse use,
      Clock clock) {
    this.session = session;
    this.sync = sync;
    this.node = nodes.get(sync.editNode());
    this.push = push;
    this.use = use;
    this.clock = clock;
    this.rest = LookRest.none(clock.nanos());
  }

  /** Whether the node has something, as far as it has said, that is not here yet. On any thread. */
  boolean isAhead() {
    return sync.there().isDue() || againAt.isPresent() || isLooking;
  }

  /** When a look is due; empty: when the node says it. */
  Optional<Duration> next(long now) {
    if (sync.there().isDue() && node.isReachable()) {
      return Optional.of(isBlocked ? SOON : rest.left(now));
    }
    return againAt.map(at -> isBlocked ? SOON : longer(rest.left(now), at - now));
  }

  private static Duration longer(Duration rest, long nanos) {
    return Duration.ofNanos(Math.max(rest.toNanos(), nanos));
  }

  /**
   * Looks at the node, if that is due, and brings home what may come. The caller has looked at the
   * workspace just now.
   *
   * @param isWanted it is looked at even if the node says nothing, once it has rested
   * @return empty: it was not looked at
   * @throws NodeFailed it is slow; it is looked at when it is back
   */
  Optional<Came> bring(boolean isWanted) throws InterruptedException, NodeFailed {
    long now = clock.nanos();
    boolean isRested = rest.isOver(now);
    boolean isSaid = sync.there().isDue() && node.isReachable() && isRested;
    boolean isAgain = isRested && againAt.map(at -> now - at >= 0).orElse(false);
    isBlocked = false;
    if (isWanted && !isRested) {
      againAt = Optional.of(rest.until());
    }
    if ((!isSaid && !isAgain && !(isWanted && isRested)) || push.isStopped()) {
      return Optional.empty();
    }
    Optional<SessionPort.Turn> turn = session.tryBegin();
    isBlocked = turn.isEmpty();
    if (turn.isEmpty()) {
      return Optional.empty();
    }
    isLooking = true; // First: what is looked at is no longer due.
    try (SessionPort.Turn _ = turn.get()) {
      NodeWatch.Due due = sync.there().looking();
      return look(isAgain || isWanted ? NodeWatch.Due.all() : due);
    } finally {
      isLooking = false;
    }
  }

  private Optional<Came> look(NodeWatch.Due due) throws InterruptedException, NodeFailed {
    long begun = clock.nanos();
    Optional<Came> came;
    try {
      came = push.run(() -> sync.comeHome(node, due));
    } catch (NodeFailed failed) {
      sync.there().due();
      throw failed;
    } catch (GpushException failed) {
      sync.there().due();
      rest = LookRest.failed(clock.nanos());
      throw failed;
    }
    long ended = clock.nanos();
    boolean isOfAll = came.map(Came::isOfAll).orElse(true);
    rest = rest.looked(begun, ended, isOfAll);
    if (came.isEmpty()) {
      sync.there().due(); // It was stopped.
    }
    came.map(Came::paths)
        .filter(paths -> !paths.isEmpty())
        .ifPresent(
            paths -> {
              busy.sent(paths, ended);
              use.saved(paths, busy);
            });
    Optional<Long> again = came.flatMap(Came::again).map(after -> ended + after.toNanos());
    if (isOfAll || again.isPresent()) {
      againAt = again;
    }
    return came;
  }
}
