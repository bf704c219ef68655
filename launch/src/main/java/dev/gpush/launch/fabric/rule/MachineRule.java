package dev.gpush.launch.fabric.rule;

import dev.gpush.core.fabric.NodeSet;
import dev.gpush.launch.fabric.facts.GpuFacts;
import dev.gpush.launch.fabric.facts.GpuFacts.Gpu;
import dev.gpush.launch.fabric.facts.SoftwareVersion;
import dev.gpush.launch.fabric.gang.NodeFabric;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/** Whether the nodes' GPUs, drivers and libraries fit together, and what is not known of them. */
public final class MachineRule {
  private MachineRule() {}

  public static void write(GangView view, Draft draft) {
    gpus(view, draft);
    lostGpus(view, draft);
    hiddenGpus(view, draft);
    versions(
        view,
        draft,
        "driver",
        node -> node.facts().gpus().driver(),
        "mostly works; a hang or a wrong result that only some nodes have starts here");
    versions(
        view,
        draft,
        "NCCL",
        node -> node.facts().software().nccl().map(SoftwareVersion::text).orElse(""),
        "NCCL stops with 'Mismatched NCCL version detected'");
    versions(
        view,
        draft,
        "torch",
        node -> node.facts().software().torch().map(SoftwareVersion::text).orElse(""),
        "ranks may disagree about what they send");
    missing(view, draft);
  }

  private static void gpus(GangView view, Draft draft) {
    Map<String, NodeSet> vendors = view.gang().by(node -> vendor(node.facts().gpus()));
    vendors.remove("");
    if (vendors.size() > 1) {
      draft.refuse(
          "mixed-gpus",
          view.gang().all(),
          "the GPUs are of different vendors: " + RailRule.listed(vendors),
          "NCCL and RCCL cannot talk to each other",
          "take nodes of one kind");
    }
    NodeSet without =
        view.gang().where(node -> node.facts().gpus().gpus().map(List::isEmpty).orElse(false));
    if (!without.isEmpty() && view.gang().hasGpus()) {
      draft.refuse(
          "no-gpus",
          without,
          without.words()
              + (without.count() == 1 ? " has" : " have")
              + " no GPUs, and the others do",
          "a rank without a GPU cannot join NCCL",
          "take nodes of one kind, or run on those with GPUs: --on NODES");
    }
    Map<String, NodeSet> shapes =
        view.gang()
            .by(
                node ->
                    node.facts().gpus().count() == 0
                        ? ""
                        : node.facts().gpus().count() + " × " + node.facts().gpus().model());
    shapes.remove("");
    if (shapes.size() > 1 && vendors.size() < 2) {
      draft.warn(
          "different-gpus",
          view.gang().all(),
          "the GPUs differ: " + RailRule.listed(shapes),
          "every step takes as long as on the slowest GPU",
          "take nodes of one kind");
    }
    NodeSet mig =
        view.gang()
            .where(
                node -> node.facts().gpus().gpus().orElse(List.of()).stream().anyMatch(Gpu::isMig));
    if (!mig.isEmpty()) {
      draft.warn(
          "mig",
          mig,
          mig.words() + ": GPUs are divided (MIG)",
          "NCCL cannot connect two parts of one GPU",
          "use whole GPUs for more than one rank per node");
    }
  }

  /** A session without GPUs on a machine that has some, and a Python that could use them. */
  private static void hiddenGpus(GangView view, Draft draft) {
    NodeSet hidden =
        view.gang()
            .where(
                node ->
                    node.facts().gpus().count() > 0
                        && "".equals(node.facts().site().session().get("CUDA_VISIBLE_DEVICES"))
                        && node.facts().software().nccl().isPresent());
    if (!hidden.isEmpty()) {
      String which =
          hidden.count() == view.gang().size()
              ? "this session has"
              : hidden.count() == 1 ? "this node has" : "these nodes have";
      draft.warn(
          "hidden-gpus",
          hidden,
          hidden.words() + ": the GPUs of the machine are hidden, because " + which + " none",
          "ranks compute on processors",
          "gpush up --replace --gpus 1");
    }
  }

  /** What nvidia-smi says of a GPU that it can no longer reach. */
  private static void lostGpus(GangView view, Draft draft) {
    for (NodeFabric node : view.gang().nodes()) {
      node.facts().unreadable().stream()
          .filter(each -> each.startsWith("nvidia-smi: "))
          .findFirst()
          .ifPresent(
              each ->
                  draft.warn(
                      "gpu-lost",
                      NodeSet.of(node.index()),
                      "node " + node.index() + ": " + each,
                      "a GPU has failed: the node has fewer than it should",
                      "replace the node"));
    }
  }

  private static String vendor(GpuFacts gpus) {
    if (gpus.count() == 0 || !gpus.vendor().isEmpty()) {
      return gpus.count() == 0 ? "" : gpus.vendor();
    }
    return gpus.model().contains("NVIDIA") ? "nvidia" : gpus.model().contains("AMD") ? "amd" : "";
  }

  private static void versions(
      GangView view, Draft draft, String what, Function<NodeFabric, String> version, String cost) {
    Map<String, NodeSet> versions = view.gang().by(version);
    versions.remove("");
    if (versions.size() > 1) {
      draft.warn(
          "different-" + what.toLowerCase(Locale.ROOT),
          view.gang().all(),
          "the versions of "
              + (what.equals("driver") ? "the driver" : what)
              + " differ: "
              + RailRule.listed(versions),
          cost,
          "make them the same on all nodes");
    }
  }

  /** Said once for the whole gang: NCCL is left alone there. */
  private static void missing(GangView view, Draft draft) {
    var parts = new ArrayList<String>();
    add(parts, "the GPUs", view.gang().where(node -> node.facts().gpus().gpus().isEmpty()));
    if (!view.gang().isOneNode()) {
      add(parts, "the RDMA devices", view.gang().where(node -> !view.rails(node).isKnown()));
      add(
          parts,
          "the interfaces and routes",
          view.gang().where(node -> !view.socket(node).isKnown()));
    }
    if (parts.isEmpty()) {
      return;
    }
    List<String> reasons =
        view.gang().nodes().stream()
            .flatMap(node -> node.facts().unreadable().stream())
            .filter(each -> !each.startsWith("/proc/"))
            .distinct()
            .limit(2)
            .toList();
    draft.note(
        "facts",
        view.gang().all(),
        "not known: "
            + String.join(", ", parts)
            + (reasons.isEmpty() ? "" : " (" + String.join(", ", reasons) + ")"),
        "nothing is set from them, and NCCL chooses");
  }

  private static void add(List<String> parts, String what, NodeSet nodes) {
    if (!nodes.isEmpty()) {
      parts.add(what + " of " + nodes.words());
    }
  }
}
