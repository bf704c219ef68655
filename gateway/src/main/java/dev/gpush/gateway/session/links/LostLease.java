package dev.gpush.gateway.session.links;

import dev.gpush.core.backend.Capabilities.LeaseRecords;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.link.Link;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Gives the lease of a gang to an agent of node 0 that has the one of its start: in another pod it
 * counts the terms of the request again, and the other nodes follow it. One that was renewed stays:
 * the idle time in the ledger may be another one.
 *
 * <p>Each agent that is linked is asked, also by a gateway that starts: the pod may have been
 * replaced while none ran.
 */
final class LostLease {
  private static final System.Logger LOG = System.getLogger("gpush.session");

  private LostLease() {}

  /**
   * Does not wait for it.
   *
   * @param pause between two attempts
   */
  static void restore(LiveSession session, Duration pause, Tasks tasks) {
    Optional<LeaseRecords> records = session.backend().capabilities().leaseRecords();
    List<Link> links = session.links();
    if (records.isPresent() && !links.isEmpty()) { // They may be closed already.
      Link first = links.getFirst();
      tasks.start("lease", () -> restore(session, first, records.get(), pause));
    }
  }

  private static void restore(LiveSession session, Link link, LeaseRecords records, Duration pause)
      throws InterruptedException {
    boolean isLogged = false;
    while (!link.state().isFinal()) {
      try {
        tryOnce(session, link, records);
        return;
      } catch (GpushException failed) {
        if (!isLogged && !link.state().isFinal()) {
          LOG.log(
              System.Logger.Level.WARNING,
              "node 0 still has its first lease, session="
                  + session.name()
                  + ": "
                  + failed.getMessage());
        }
        isLogged = true;
      }
      Thread.sleep(pause);
    }
  }

  private static void tryOnce(LiveSession session, Link link, LeaseRecords records)
      throws InterruptedException {
    Json status = link.call("status", Json.object());
    if (!status.text("lease_from").orElse("").equals("start")) {
      return;
    }
    Optional<LeaseTerms> lease = records.lease(session.gang(), session.entry().lease().idle());
    if (lease.isPresent()) {
      link.call("renew", lease.get().json().with("restore", true));
    }
  }
}
