package dev.gpush.gateway.session.saves;

import java.time.Duration;
import java.util.Optional;

/**
 * When an editors' node is looked at that does not say by itself that something has changed: while
 * someone is connected to it, soon after something was done there, and so seldom that it costs
 * little. One thread.
 */
final class EditLooks {
  private static final Duration SOON = Duration.ofSeconds(2);

  /** Nobody is connected, or nobody has done anything for a while. */
  private static final Duration LATER = Duration.ofSeconds(10);

  private static final Duration A_WHILE = Duration.ofMinutes(10);

  /** A look takes this part of the time on the node. */
  private static final int SHARE = 50;

  private long dueNanos;
  private Duration between = SOON;

  EditLooks(long nanos) {
    dueNanos = nanos + SOON.toNanos();
  }

  /** Someone has just connected: what is edited first is not noticed last. */
  void visited(long nanos) {
    dueNanos = nanos + Math.min(dueNanos - nanos, SOON.toNanos());
  }

  boolean isDue(long nanos) {
    return nanos - dueNanos >= 0;
  }

  Duration next(long nanos) {
    return Duration.ofNanos(Math.max(0, dueNanos - nanos));
  }

  /**
   * After it was asked who is there, and perhaps a look.
   *
   * @param quiet since when nothing was done on the node; empty: nobody is connected
   * @param took zero without a look
   */
  void looked(Optional<Duration> quiet, Duration took, long nanos) {
    boolean isUsed = quiet.isPresent() && quiet.get().compareTo(A_WHILE) < 0;
    between = isUsed ? SOON : LATER;
    took(took, nanos);
  }

  /** After a look. */
  void took(Duration took, long nanos) {
    Duration share = took.multipliedBy(SHARE);
    dueNanos = nanos + (share.compareTo(between) > 0 ? share : between).toNanos();
  }
}
