package dev.gpush.gateway.session.lifecycle;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.DurationText;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import dev.gpush.gateway.session.ledger.LedgerEntry.IdleRule;
import dev.gpush.gateway.session.live.LiveSession;
import java.time.Duration;

/**
 * The idle time of a gang that waited in a queue: a user who comes back to it after a while must
 * not wait as long again. A time that the user has chosen stays.
 */
public final class QueuedIdleTime {
  /** Shorter waits are a scheduler's own pace, and not a queue. */
  private static final Duration SHORTEST_WAIT = Duration.ofMinutes(1);

  private static final Duration LEAST = Duration.ofHours(3);

  /** A weekend; a clock that was set meanwhile must not cost weeks. */
  private static final Duration MOST = Duration.ofDays(2);

  private static final System.Logger LOG = System.getLogger("gpush.session");

  private final Clock clock;

  public QueuedIdleTime(Clock clock) {
    this.clock = clock;
  }

  /** Three hours, or half the time queued if that is longer, up to two days. */
  static Duration after(Duration waited) {
    return Duration.ofSeconds(
        Math.clamp(waited.toSeconds() / 2, LEAST.toSeconds(), MOST.toSeconds()));
  }

  /**
   * Sets it on the nodes and in the ledger, once; called when the nodes can be reached. Afterwards
   * the idle time is settled: the age of a session is not the time that it waited.
   */
  public void apply(LiveSession session, Talk talk) {
    LedgerEntry entry = session.entry();
    if (entry.lease().rule() != IdleRule.AFTER_QUEUE) {
      return;
    }
    Duration waited = Duration.between(entry.created(), clock.now());
    Duration idle = after(waited);
    boolean isLonger =
        waited.compareTo(SHORTEST_WAIT) >= 0
            && idle.compareTo(entry.lease().idle()) > 0
            && isRenewed(session, idle);
    Duration settled = isLonger ? idle : entry.lease().idle();
    session.changeAnyway(was -> was.leased(new LeaseTerms(was.lease().hardEnd(), settled)));
    if (isLonger) {
      talk.say(
          entry.name()
              + " waited for "
              + DurationText.coarse(waited)
              + ", so its idle time is "
              + DurationText.coarse(idle)
              + " instead of "
              + DurationText.coarse(entry.lease().idle()));
    }
  }

  private static boolean isRenewed(LiveSession session, Duration idle) {
    try {
      session.backend().renew(session.gang(), LeaseTerms.ofIdleTime(idle));
      return true;
    } catch (GpushException failed) {
      // The nodes keep the idle time that they started with.
      LOG.log(System.Logger.Level.WARNING, "idle time not set, session=" + session.name(), failed);
      return false;
    }
  }
}
