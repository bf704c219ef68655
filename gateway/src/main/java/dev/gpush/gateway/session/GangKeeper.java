package dev.gpush.gateway.session;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.link.Link;
import dev.gpush.link.LinkState;
import java.time.Duration;
import java.util.List;

/**
 * Keeps a gang together: while a run is in progress on some of its nodes, the idle time of the
 * others starts afresh. Each agent judges only itself, and a gang that loses one node is no gang.
 */
final class GangKeeper {
  private final GatewaySessions sessions;
  private final Duration pause;

  /**
   * @param pause well below any idle time that makes sense
   */
  GangKeeper(GatewaySessions sessions, Duration pause) {
    this.sessions = sessions;
    this.pause = pause;
  }

  /** Until interrupted. */
  void keep() {
    try {
      while (true) {
        Thread.sleep(pause);
        for (LiveSession session : sessions.all()) {
          keep(session);
        }
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private static void keep(LiveSession session) throws InterruptedException {
    List<Link> links = session.links();
    boolean allUp = links.stream().allMatch(link -> link.state() instanceof LinkState.Up);
    boolean works = session.workIfAny().map(work -> work.runsInProgress() > 0).orElse(false);
    if (!works || !allUp) {
      return;
    }
    Json.Obj afresh = Json.object("idle_s", session.entry().idle().toSeconds());
    for (Link link : links) {
      try {
        link.call("renew", afresh);
      } catch (GpushException over) {
        // Who watches the links has heard of it.
      }
    }
  }
}
