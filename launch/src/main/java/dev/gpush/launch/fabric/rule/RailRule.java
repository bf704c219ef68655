package dev.gpush.launch.fabric.rule;

import dev.gpush.core.fabric.Authority;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.launch.fabric.facts.RdmaPort;
import dev.gpush.launch.fabric.facts.RdmaPort.Verbs;
import dev.gpush.launch.fabric.gang.NodeFabric;
import dev.gpush.launch.fabric.gang.Rails;
import dev.gpush.launch.fabric.rule.Draft.Decision;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * NCCL_IB_HCA, and whether the nodes' RDMA devices fit together. NCCL uses every active port that
 * it can open, so it is told only where some of them are for something else.
 */
public final class RailRule {
  private static final String HCA = "NCCL_IB_HCA";

  /** What NCCL registers of GPU and host memory on each rank at the least, with room to spare. */
  private static final long LEAST_MEMLOCK = 1L << 30;

  private static final int UNLIMITED = -1;

  private RailRule() {}

  public static void write(GangView view, Draft draft) {
    if (!view.gang().mayUseNccl()) {
      return;
    }
    if (view.gang().isOneNode()) {
      draft.leave(HCA, view.gang().all(), "one machine: its GPUs need no network");
      return;
    }
    boolean usesRails = !view.withRails().isEmpty() && !view.usesPlugin();
    for (NodeFabric node : view.gang().nodes()) {
      hca(view, draft, node);
    }
    blocked(view, draft);
    if (usesRails && !view.choosesTcp()) {
      mixed(view, draft);
    }
    if ((usesRails || view.usesPlugin()) && !view.choosesTcp()) {
      memlock(view, draft);
    }
    down(view, draft);
  }

  private static void hca(GangView view, Draft draft, NodeFabric node) {
    Rails rails = view.rails(node);
    NodeSet only = NodeSet.of(node.index());
    if (!rails.isKnown()) {
      draft.leave(HCA, only, "not enough is known");
    } else if (view.given().choosesTcp(node.index())) {
      draft.leave(HCA, only, "TCP is chosen");
    } else if (view.usesPlugin()) {
      draft.leave(HCA, only, "the provider's plugin chooses its devices");
    } else if (rails.rails().isEmpty()) {
      draft.leave(HCA, only, "no RDMA device that NCCL can use");
    } else if (rails.others().isEmpty()) {
      int count = rails.rails().size();
      String reason =
          count == 1
              ? "the one active device is the rail"
              : "all " + count + " active devices are rails";
      draft.leave(HCA, only, reason);
    } else {
      String value =
          rails.rails().stream().map(RdmaPort::name).collect(Collectors.joining(",", "=", ""));
      String rest = rails.others().stream().map(RdmaPort::device).collect(Collectors.joining(", "));
      String reason =
          "the "
              + rails.rails().size()
              + " rails of "
              + rails.kind()
              + "; not "
              + rest
              + " (storage or management)";
      draft.decide(
          HCA,
          node.index(),
          new Decision(Optional.of(value), reason, Draft.FACTS, Authority.DISCOVERY));
    }
  }

  private static void mixed(GangView view, Draft draft) {
    if (!view.knowsRails()) {
      return;
    }
    NodeSet without = view.gang().where(node -> view.rails(node).rails().isEmpty());
    Map<String, NodeSet> kinds = view.gang().by(node -> view.rails(node).kind());
    kinds.remove("");
    for (int index : without.numbers()) {
      draft.refuse(
          "mixed-rdma",
          NodeSet.of(index),
          "node "
              + index
              + ": "
              + why(view.rails(view.gang().node(index)))
              + "; there is "
              + listed(kinds),
          "RDMA on some nodes and TCP on others cannot talk to each other",
          "leave node "
              + index
              + " out, or choose TCP for all: NCCL_NET=Socket before the command");
    }
    Map<String, NodeSet> layers = view.gang().by(node -> view.rails(node).layer());
    layers.remove("");
    if (layers.size() > 1) {
      draft.refuse(
          "mixed-link",
          view.gang().all(),
          "the link layers differ: " + listed(kinds),
          "InfiniBand and Ethernet ports cannot talk to each other",
          "take nodes of one kind");
    } else if (kinds.size() > 1) {
      draft.warn(
          "mixed-rate",
          view.gang().all(),
          "the rails differ: " + listed(kinds),
          "every collective goes at the pace of the slowest",
          "take nodes of one kind");
    }
    if (without.isEmpty() && layers.size() == 1) {
      counts(view, draft);
      slow(view, draft);
    }
  }

  /** Rails of one node that have another rate than its first one. */
  private static void slow(GangView view, Draft draft) {
    for (NodeFabric node : view.gang().nodes()) {
      Rails rails = view.rails(node);
      List<RdmaPort> slow =
          rails.rails().stream().filter(port -> !Rails.kind(port).equals(rails.kind())).toList();
      if (!slow.isEmpty()) {
        draft.warn(
            "slow-rail",
            NodeSet.of(node.index()),
            "node "
                + node.index()
                + ": "
                + slow.getFirst().device()
                + " has only "
                + Rails.kind(slow.getFirst())
                + ", the other rails "
                + rails.kind(),
            "every collective of the gang waits for this rail",
            "replace the node, or have the cable looked at");
      }
    }
  }

  private static void counts(GangView view, Draft draft) {
    Map<Integer, NodeSet> counts = view.gang().by(node -> view.rails(node).rails().size());
    boolean isByDown = view.gang().nodes().stream().anyMatch(node -> !lost(view, node).isEmpty());
    if (counts.size() > 1 && !isByDown) {
      draft.warn(
          "rail-count",
          view.gang().all(),
          "the number of rails differs: " + listed(counts),
          "every collective goes at the pace of the node with the fewest",
          "take nodes of one kind");
    }
  }

  static String listed(Map<?, NodeSet> values) {
    return values.entrySet().stream()
        .map(each -> each.getKey() + " on " + each.getValue().words())
        .collect(Collectors.joining(", "));
  }

  private static String why(Rails rails) {
    if (!rails.blocked().isEmpty()) {
      boolean isMissing =
          rails.blocked().getFirst().adapter().verbs().equals(Optional.of(Verbs.MISSING));
      return rails.blocked().size()
          + " RDMA devices, "
          + (isMissing
              ? "but /dev/infiniband is missing in this container"
              : "but they may not be opened");
    }
    return rails.down().isEmpty()
        ? "no RDMA device"
        : "all " + rails.down().size() + " RDMA ports are DOWN";
  }

  /** Devices that the kernel shows and that cannot be opened, on every node. */
  private static void blocked(GangView view, Draft draft) {
    NodeSet nodes =
        view.gang()
            .where(
                node ->
                    !view.rails(node).blocked().isEmpty() && view.rails(node).rails().isEmpty());
    if (nodes.isEmpty() || nodes.count() < view.gang().size()) {
      return;
    }
    view.gang()
        .by(node -> why(view.rails(node)))
        .forEach(
            (why, those) ->
                draft.warn(
                    "no-verbs",
                    those,
                    those.words() + ": " + why,
                    "NCCL uses TCP, although "
                        + Rails.kind(view.rails().get(0).blocked().getFirst())
                        + " is there",
                    "ask for the devices (rdma/ib: 1 in the pod), or mount /dev/infiniband"));
  }

  /** A port that is DOWN here and a rail elsewhere, or that the GPUs of this node miss. */
  private static void down(GangView view, Draft draft) {
    for (NodeFabric node : view.gang().nodes()) {
      List<RdmaPort> lost = lost(view, node);
      int active = view.rails(node).rails().size();
      if (lost.isEmpty() || active == 0) {
        continue;
      }
      String names = lost.stream().map(RdmaPort::device).collect(Collectors.joining(", "));
      String states =
          lost.stream()
              .map(port -> port.link().state().isEmpty() ? "DOWN" : port.link().state())
              .distinct()
              .collect(Collectors.joining(", "));
      int whole = active + lost.size();
      draft.warn(
          "port-down",
          NodeSet.of(node.index()),
          "node "
              + node.index()
              + ": "
              + names
              + (lost.size() == 1 ? " is " : " are ")
              + states
              + ", "
              + active
              + " of "
              + whole
              + " rails",
          "every collective of the gang has " + active + "/" + whole + " of the network's rate",
          "replace the node, or have the cable looked at");
    }
  }

  private static List<RdmaPort> lost(GangView view, NodeFabric node) {
    Rails own = view.rails(node);
    Set<String> elsewhere =
        view.rails().stream()
            .flatMap(rails -> rails.rails().stream())
            .map(RdmaPort::name)
            .collect(Collectors.toSet());
    var lost = new ArrayList<RdmaPort>();
    for (RdmaPort port : own.down()) {
      if (elsewhere.contains(port.name())) {
        lost.add(port);
      }
    }
    List<RdmaPort> alike =
        own.down().stream()
            .filter(port -> port.link().layer().equals(own.layer()))
            .filter(port -> !port.device().contains("bond"))
            .toList();
    boolean isOnePerGpu =
        own.rails().size() + alike.size() == node.facts().gpus().count() && !own.rails().isEmpty();
    return isOnePerGpu && alike.size() > lost.size() ? alike : lost;
  }

  private static void memlock(GangView view, Draft draft) {
    NodeSet small =
        view.gang()
            .where(
                node ->
                    !node.facts().rdma().ports().orElse(List.of()).isEmpty()
                        && node.facts()
                            .rdma()
                            .memlock()
                            .map(bytes -> bytes != UNLIMITED && bytes < LEAST_MEMLOCK)
                            .orElse(false));
    if (!small.isEmpty()) {
      long bytes = view.gang().node(small.numbers().getFirst()).facts().rdma().memlock().orElse(0L);
      draft.warn(
          "memlock",
          small,
          small.words() + ": only " + bytes / 1024 + " KiB of memory may be locked",
          "RDMA must lock its buffers: NCCL fails with 'Cannot allocate memory' in ibv_reg_mr",
          "set the limit to unlimited (ulimit -l; LimitMEMLOCK=infinity; memlock of the"
              + " container)");
    }
  }
}
