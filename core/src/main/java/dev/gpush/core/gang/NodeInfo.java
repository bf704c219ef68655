package dev.gpush.core.gang;

import dev.gpush.core.json.Json;
import java.util.List;

/**
 * One granted node.
 *
 * @param host its host name
 * @param address where the other nodes of the gang reach it
 * @param slots what runs claim, one each: GPU ids, or made-up ones on a node without GPUs
 * @param gpuModel empty on a CPU node
 * @param workspace absolute path of the project's copy; gpush's state is beside it
 * @param within which parts of the network it is in, the widest first: a zone, a block, a rack;
 *     empty when it is not known
 */
public record NodeInfo(
    int index,
    String host,
    String address,
    List<String> slots,
    String gpuModel,
    int cpus,
    String workspace,
    List<String> within) {
  public NodeInfo {
    slots = List.copyOf(slots);
    within = List.copyOf(within);
  }

  /** With an unknown place in the network. */
  public NodeInfo(
      int index,
      String host,
      String address,
      List<String> slots,
      String gpuModel,
      int cpus,
      String workspace) {
    this(index, host, address, slots, gpuModel, cpus, workspace, List.of());
  }

  /** The same node with the names of its slots. */
  public NodeInfo with(List<String> names) {
    return new NodeInfo(index, host, address, names, gpuModel, cpus, workspace, within);
  }

  public boolean hasGpus() {
    return !gpuModel.isEmpty();
  }

  /** Where gpush keeps its own files on this node. */
  public String state() {
    return workspace + ".gpush";
  }

  public Json.Obj json() {
    return Json.object(
        "node",
        index,
        "host",
        host,
        "address",
        address,
        "slots",
        slots,
        "gpu",
        gpuModel,
        "cpus",
        cpus,
        "workspace",
        workspace,
        "within",
        within);
  }

  /**
   * Reads what {@link #json} wrote.
   *
   * @throws IllegalArgumentException when it has no number of a node
   */
  public static NodeInfo from(Json json) {
    return new NodeInfo(
        json.integer("node")
            .filter(node -> node >= 0)
            .orElseThrow(() -> new IllegalArgumentException("a node without a number")),
        json.text("host").orElse(""),
        json.text("address").orElse(""),
        json.texts("slots"),
        json.text("gpu").orElse(""),
        json.integer("cpus").orElse(1),
        json.text("workspace").orElse(""),
        json.texts("within"));
  }
}
