package dev.gpush.link;

import dev.gpush.link.machine.LinkWaits;
import java.time.Duration;

/**
 * The waits of a link, so that no test waits for a real minute.
 *
 * @param ping PING is sent after this time without an answer
 * @param contact after this time without an answer a new pipe is opened beside the silent one
 * @param wake how long the pipe has to answer after this process did not run for a while
 * @param greeting HELLO must be answered within this time
 * @param opening a pipe that is not open after this is given up and tried again
 * @param firstPause before the pipe that follows one that carried something
 * @param lastPause the pause doubles up to this
 */
public record LinkTiming(
    Duration ping,
    Duration contact,
    Duration wake,
    Duration greeting,
    Duration opening,
    Duration firstPause,
    Duration lastPause) {
  /** A source has its own limits, and a node may have to be started for the first pipe. */
  private static final Duration FIRST_OPENING = Duration.ofMinutes(15);

  private static final LinkTiming USUAL =
      new LinkTiming(
          Duration.ofSeconds(5),
          // On a train, the network usually comes back by itself within this time.
          Duration.ofSeconds(30),
          // A working pipe answers within a few round trips.
          Duration.ofSeconds(2),
          // The agent waits for HELLO as long.
          Duration.ofSeconds(20),
          // A slow login node with a busy file server takes half of this.
          Duration.ofMinutes(1),
          // Most cuts are over at once.
          Duration.ofMillis(200),
          // Users who wait look again after about five seconds.
          Duration.ofSeconds(5));

  public static LinkTiming usual() {
    return USUAL;
  }

  /** The usual ones with another contact limit, which also limits the shorter waits. */
  public LinkTiming withContact(Duration limit) {
    return new LinkTiming(
        shorter(ping, limit.dividedBy(3)),
        limit,
        shorter(wake, limit),
        greeting,
        opening,
        firstPause,
        lastPause);
  }

  LinkWaits waits() {
    return new LinkWaits(
        ping.toNanos(),
        contact.toNanos(),
        wake.toNanos(),
        greeting.toNanos(),
        FIRST_OPENING.toNanos(),
        opening.toNanos(),
        firstPause.toNanos(),
        lastPause.toNanos());
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }
}
