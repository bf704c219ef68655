package dev.gpush.backends.kubernetes.cluster;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Network devices that a pod must request, because its ranks use TCP without them: InfiniBand and
 * RoCE under the names that sites and clouds give them. A gang of one node needs none.
 */
public final class Fabric {
  /** Seen at CoreWeave, AKS, Together, OCI, AWS, and with NVIDIA's network operator. */
  private static final List<Pattern> RESOURCES =
      List.of(
          Pattern.compile("rdma/.+"),
          Pattern.compile("nvidia\\.com/(rdma_.+|hostdev|sriov-rdma-vf)"),
          Pattern.compile("openshift\\.io/.*rdma.*"),
          Pattern.compile("vpc\\.amazonaws\\.com/efa"));

  /** One of these gives access to all shared devices; their number has no meaning. */
  private static final Pattern SHARED = Pattern.compile(".*shared.*");

  private Fabric() {}

  /**
   * The devices that each pod requests: those that all these nodes have, in proportion to its GPUs.
   *
   * @param gpuResource of the GPUs
   * @param gpus of each pod
   */
  public static Map<String, Long> of(List<KubernetesNode> nodes, String gpuResource, int gpus) {
    var everywhere = new TreeSet<String>();
    nodes.stream().findFirst().ifPresent(first -> everywhere.addAll(first.has().keySet()));
    everywhere.removeIf(
        name ->
            RESOURCES.stream().noneMatch(rule -> rule.matcher(name).matches())
                || nodes.stream().anyMatch(node -> node.has(name) == 0));
    var wanted = new TreeMap<String, Long>();
    for (String name : everywhere) {
      long share =
          nodes.stream()
              .mapToLong(node -> node.has(name) * gpus / node.has(gpuResource))
              .min()
              .orElse(1);
      wanted.put(name, SHARED.matcher(name).matches() ? 1 : Math.max(1, share));
    }
    return wanted;
  }
}
