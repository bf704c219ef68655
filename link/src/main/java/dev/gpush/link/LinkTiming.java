package dev.gpush.link;

import dev.gpush.link.machine.LinkWaits;
import java.time.Duration;

/**
 * The waits of a link, so that no test waits for a real minute.
 *
 * @param ping PING when the agent has answered nothing for so long
 * @param contact without an answer for so long, a new pipe is opened beside the silent one
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
  /** A source has limits of its own, and a node may have to be started for the first pipe. */
  private static final Duration FIRST_OPENING = Duration.ofMinutes(15);

  private static final LinkTiming USUAL =
      new LinkTiming(
          Duration.ofSeconds(5),
          // The network of a train comes back by itself within this more often than not.
          Duration.ofSeconds(30),
          // A pipe that lives answers within a few round trips.
          Duration.ofSeconds(2),
          // The agent gives up on us after the same.
          Duration.ofSeconds(20),
          // A slow login node with a loaded home takes half of this.
          Duration.ofMinutes(1),
          // Most cuts are over at once.
          Duration.ofMillis(200),
          // A person who waits looks again after five seconds.
          Duration.ofSeconds(5));

  public static LinkTiming usual() {
    return USUAL;
  }

  /** The usual ones with another contact limit: the shorter waits follow it down. */
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
