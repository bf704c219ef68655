package dev.gpush.core.gang;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What is asked of a backend, complete: defaults are resolved before.
 *
 * @param gang the id under which a repeated request finds the first one
 * @param session the name that users see
 * @param owner who pays: stable over laptops
 * @param holder the gateway that asks, as {@link dev.gpush.core.session.Holder} writes it
 * @param project the last part of the workspace path on a node
 * @param environment variables that every process on the nodes starts from, beyond the node's own
 * @param inherit this machine's variables that a local gang takes over from the client (PATH,
 *     VIRTUAL_ENV …); others ignore it
 * @param natives the user's own options for a backend that {@code Capabilities.takesNatives}
 * @param image the project's, for a backend that {@code Capabilities.takesImages}; empty: its own
 * @param attach the running pods to borrow, as {@code Backend.lends} has found it
 */
public record GangRequest(
    GangId gang,
    String session,
    String owner,
    String holder,
    String project,
    int nodes,
    GpuRequest gpus,
    LeaseTerms lease,
    Map<String, String> environment,
    Map<String, String> inherit,
    List<String> natives,
    Optional<String> image,
    Optional<String> attach) {
  /** More in one session has not been tried. */
  public static final int MAX_NODES = 256;

  public GangRequest {
    if (nodes < 1 || nodes > MAX_NODES) {
      throw new IllegalArgumentException("1 to 256 nodes, not " + nodes);
    }
    environment = Map.copyOf(environment);
    inherit = Map.copyOf(inherit);
    natives = List.copyOf(natives);
  }

  /** In the backend's own image, if any. */
  public GangRequest(
      GangId gang,
      String session,
      String owner,
      String holder,
      String project,
      int nodes,
      GpuRequest gpus,
      LeaseTerms lease,
      Map<String, String> environment,
      Map<String, String> inherit,
      List<String> natives) {
    this(
        gang,
        session,
        owner,
        holder,
        project,
        nodes,
        gpus,
        lease,
        environment,
        inherit,
        natives,
        Optional.empty(),
        Optional.empty());
  }

  /** Without native options. */
  public GangRequest(
      GangId gang,
      String session,
      String owner,
      String holder,
      String project,
      int nodes,
      GpuRequest gpus,
      LeaseTerms lease,
      Map<String, String> environment,
      Map<String, String> inherit) {
    this(
        gang, session, owner, holder, project, nodes, gpus, lease, environment, inherit, List.of());
  }
}
