package dev.gpush.gateway.session.links;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.PeerSecret;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.link.Link;

/**
 * Tells the nodes of a gang where node 0 listens for them, so that they decide idleness together
 * and stop a run on all nodes even without a gateway. They have shared a secret since their start;
 * only the port was not known then. It is sent again after every restart of a gateway; an agent
 * that knows it already does nothing.
 */
final class PeerSetup {
  private PeerSetup() {}

  /**
   * Does not wait for it: a link that is cut meanwhile sends it when it is up again.
   *
   * @param fresh the node that has a new agent, which does not know the others; 0: all are told
   */
  static void start(LiveSession session, int fresh, Tasks tasks) {
    if (session.gang().nodes().size() > 1 && !session.isLost(0)) {
      tasks.start("introduce", () -> introduce(session, fresh, tasks));
    }
  }

  private static void introduce(LiveSession session, int fresh, Tasks tasks) {
    try {
      Json status = session.link(0).call("status", Json.object());
      int port = status.object("peers").integer("port").orElse(0);
      if (port == 0) {
        // All nodes are on one host, where the agents find each other.
        return;
      }
      Json.Obj where = PeerSecret.nodeZero(session.gang().nodes().getFirst().address(), port);
      for (Link link : session.links()) {
        if (link.node() != 0
            && (fresh == 0 || link.node() == fresh)
            && !session.isLost(link.node())) {
          // A gateway that ends leaves this to the next one.
          tasks.start("introduce", () -> tell(link, where));
        }
      }
    } catch (GpushException over) {
      // Node 0 is gone: the other nodes end by their own idle time.
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private static void tell(Link link, Json.Obj where) {
    try {
      link.call("peers", where);
    } catch (GpushException over) {
      // As above.
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }
}
