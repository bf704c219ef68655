package dev.gpush.gateway.session.lifecycle;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Backends;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.ledger.Bid;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.TurnQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Releases what other backends may still hold for a session that has its gang, or gives it back. A
 * bid leaves the ledger only when its backend has confirmed that nothing is held; until then the
 * release is repeated, by this gateway or the next.
 */
public final class PendingReleases {
  /** An agent has five minutes for the files of its node: 100,000 take one on a busy machine. */
  private static final Duration GANG_LIMIT = Duration.ofMinutes(6);

  /** What another backend may hold has no files yet. */
  private static final Duration BID_LIMIT = Duration.ofSeconds(60);

  private final Backends backends;
  private final Duration pause;
  private final Tasks tasks;

  public PendingReleases(Backends backends, Duration pause, Tasks tasks) {
    this.backends = backends;
    this.pause = pause;
    this.tasks = tasks;
  }

  /**
   * Releases the gang, and everything that other backends may hold; the caller has the turn.
   *
   * @return the kept paths
   */
  public List<String> releaseAll(LiveSession session) throws InterruptedException {
    var failures = new ArrayList<GpushException>();
    var kept = new ArrayList<String>();
    try {
      kept.addAll(session.backend().release(session.gangToRelease(), GANG_LIMIT));
    } catch (GpushException stillThere) {
      failures.add(stillThere);
    }
    for (Bid bid : session.entry().others()) {
      try {
        release(bid);
        session.changeAnyway(was -> was.with(was.reservation().without(bid)));
      } catch (GpushException stillThere) {
        failures.add(stillThere);
      }
    }
    if (!failures.isEmpty()) {
      throw failures.getFirst();
    }
    return kept;
  }

  private void release(Bid bid) throws InterruptedException {
    Optional<Backend> backend = backends.named(bid.backend()).map(bid::at);
    if (backend.isEmpty()) {
      throw new GpushException(
          new BackendFailure.NotReleased(
              bid.backend(),
              bid.gang().text(),
              "backend " + bid.backend() + " is no longer configured"));
    }
    backend.get().release(bid.gangToRelease(), BID_LIMIT);
  }

  /**
   * Does that on its own thread; returns at once.
   *
   * @param before runs first, to stop requests that are still in progress
   */
  public void sweepSoon(LiveSession session, Runnable before) {
    if (session.entry().others().isEmpty()) {
      return;
    }
    tasks.start(
        "sweep-" + session.name(),
        () -> {
          before.run();
          try {
            while (!isSwept(session)) {
              Thread.sleep(pause);
            }
          } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
          }
        });
  }

  private boolean isSwept(LiveSession session) throws InterruptedException {
    List<Bid> unwanted = session.entry().others().stream().filter(bid -> !bid.isWanted()).toList();
    for (Bid bid : unwanted) {
      try {
        // Without the turn: an unreachable backend must not block the session.
        release(bid);
        try (TurnQueue.Turn _ = session.begin("clean-up", Talk.silent())) {
          if (!session.isOver() && !session.isClosed()) {
            session.change(was -> was.with(was.reservation().without(bid)));
          }
        }
      } catch (GpushException stillThere) {
        // It is tried again; ps and doctor name it in the meantime.
      }
    }
    return session.isOver() || session.isClosed() || session.entry().others().isEmpty();
  }
}
