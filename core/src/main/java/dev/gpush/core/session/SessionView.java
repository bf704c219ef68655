package dev.gpush.core.session;

import dev.gpush.core.backend.GpuRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A session as it is now.
 *
 * @param id the session's own id (also the workspace folder's name); a name may be used again, an
 *     id never
 * @param detail why queued, what is degraded, what leaked; empty when all is well
 * @param hardEndLeft empty: no hard end
 * @param idleLeft empty while something keeps it busy
 * @param activity what keeps it busy, or since when it is idle, in words
 * @param generation what all nodes hold
 * @param isNew made by the request that returned it, as opposed to found
 */
public record SessionView(
    SessionName name,
    String id,
    SessionState state,
    String detail,
    String backend,
    String gang,
    GpuRequest gpus,
    Path root,
    String owner,
    Instant created,
    Optional<Duration> hardEndLeft,
    Optional<Duration> idleLeft,
    String activity,
    long generation,
    int runsInProgress,
    String python,
    List<NodeView> nodes,
    boolean isNew) {
  public SessionView {
    nodes = List.copyOf(nodes);
  }

  /** "2×8 H100", "2 cpu nodes". */
  public String shape() {
    return gpus.isNone()
        ? nodes.size() + (nodes.size() == 1 ? " cpu node" : " cpu nodes")
        : nodes.size() + "×" + gpus.count() + gpus.model().map(model -> " " + model).orElse(" GPU");
  }
}
