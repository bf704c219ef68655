package dev.gpush.gateway.session.live;

import dev.gpush.link.LinkTiming;
import java.time.Duration;

/**
 * The waits of sessions, so that no test waits for a real minute.
 *
 * @param observePause between two checks of a gang whose link is cut
 * @param settle how long an agent that a dead gateway was starting may still need to appear
 * @param link the waits of every link
 * @param answer how long a backend may take to answer a plan, if others are asked too
 * @param grace the rest of that time once one of them could grant now
 * @param status how long node 0 may take to tell the state of its lease
 */
public record SessionTiming(
    Duration observePause,
    Duration settle,
    Duration answer,
    Duration grace,
    Duration status,
    LinkTiming link) {
  public static SessionTiming usual() {
    return new SessionTiming(
        Duration.ofSeconds(5),
        Duration.ofSeconds(2),
        Duration.ofSeconds(20),
        Duration.ofSeconds(5),
        Duration.ofSeconds(2),
        LinkTiming.usual());
  }

  /** With another contact limit for every link. */
  public SessionTiming withContact(Duration limit) {
    return new SessionTiming(observePause, settle, answer, grace, status, link.withContact(limit));
  }
}
