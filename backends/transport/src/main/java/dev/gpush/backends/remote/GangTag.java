package dev.gpush.backends.remote;

import dev.gpush.core.backend.Discovered;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.gang.Requester;
import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Facts about a gang that a cluster keeps for gpush: who asked for it, and everything about its
 * nodes that the cluster does not say itself, so that another laptop finds it.
 *
 * @param gpus of each node
 * @param cpus of each node
 */
public record GangTag(Requester requester, int nodes, int gpus, String gpuModel, int cpus) {
  public GangTag {
    cpus = Math.max(1, cpus);
  }

  /** Where one node is, as {@link NodeInfo} has it. */
  public record Place(String host, String address, String workspace, List<String> within) {
    public Place {
      within = List.copyOf(within);
    }
  }

  public static GangTag of(GangRequest request, String gpuModel, int cpus) {
    return new GangTag(
        request.requester(), request.nodes(), request.gpus().count(), gpuModel, cpus);
  }

  public boolean isOf(String owner) {
    return !owner.isEmpty() && requester.owner().equals(owner);
  }

  /**
   * One of its nodes.
   *
   * @param status what its agent says; empty before it has answered
   */
  public NodeInfo node(int index, Place place, Json status) {
    return new NodeInfo(
        index,
        place.host(),
        place.address(),
        slots(gpus, status),
        gpus == 0 ? "" : gpuModel,
        cpus,
        place.workspace(),
        place.within());
  }

  /**
   * The GPUs as the agent sees them: they are numbered from 0 where the cluster shows a node only
   * its own, unless a variable has other names.
   */
  public static List<String> slots(int gpus, Json status) {
    if (gpus == 0) {
      return List.of("0");
    }
    List<String> devices = status.texts("devices");
    return devices.size() == gpus
        ? devices
        : IntStream.range(0, gpus).mapToObj(Integer::toString).toList();
  }

  /** A gang that waits, or whose nodes do not run yet. */
  public Discovered waiting(Gang gang) {
    return discovered(gang, requester.holder(), false);
  }

  /**
   * A gang whose agents were asked. Another gateway may have taken it over since the request.
   *
   * @param said each agent's answer
   */
  public Discovered found(Gang gang, Map<Integer, Json> said) {
    String holder =
        said.getOrDefault(0, Json.object())
            .text("holder")
            .filter(now -> !now.isEmpty())
            .orElse(requester.holder());
    return discovered(gang, holder, said.size() == nodes);
  }

  private Discovered discovered(Gang gang, String holder, boolean isComplete) {
    return new Discovered(gang, requester.session(), requester.owner(), holder, isComplete);
  }
}
