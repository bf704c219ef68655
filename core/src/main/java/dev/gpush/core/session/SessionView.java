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
 * @param needsLogin what {@code gpush login} must be called with before it goes on; empty: nothing
 * @param size how many nodes it has, or has asked for
 * @param hardEndLeft empty: no hard end
 * @param idleLeft empty while something keeps it busy
 * @param activity what keeps it busy, or since when it is idle, in words
 * @param generation the newest that a node holds, 0 when nothing was sent; empty while nobody here
 *     knows
 * @param isNew made by the request that returned it, as opposed to found
 */
public record SessionView(
    SessionName name,
    String id,
    SessionState state,
    String detail,
    Optional<String> needsLogin,
    String backend,
    String gang,
    int size,
    GpuRequest gpus,
    Path root,
    String owner,
    Instant created,
    Optional<Duration> hardEndLeft,
    Optional<Duration> idleLeft,
    String activity,
    Optional<Long> generation,
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
        ? size + (size == 1 ? " cpu node" : " cpu nodes")
        : size + "×" + gpus.count() + gpus.model().map(model -> " " + model).orElse(" GPU");
  }
}
