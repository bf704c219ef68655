package dev.gpush.launch.journal;

import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.core.run.RunTransport;
import dev.gpush.core.text.Phrase;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.stream.Collectors;

/**
 * The network of a run from what its nodes say and what its plan expected. Pure. Less than expected
 * is said with the reason: NCCL's own words, then what the plan found wrong.
 */
public final class TransportVerdict {
  /** Findings of a plan that explain why RDMA is not used. */
  private static final Set<String> EXPLAINING = Set.of("no-verbs", "plugin-missing", "memlock");

  private static final String LOOK = "gpush check --plan";

  private final Optional<FabricPlan> plan;
  private final SortedMap<Integer, NodeTransport> nodes;

  private TransportVerdict(Optional<FabricPlan> plan, SortedMap<Integer, NodeTransport> nodes) {
    this.plan = plan;
    this.nodes = nodes;
  }

  /**
   * Of a run.
   *
   * @param plan of the run; empty where there is none
   * @param nodes what those have said that said something, at least one
   */
  public static RunTransport of(
      Optional<FabricPlan> plan, SortedMap<Integer, NodeTransport> nodes) {
    return new TransportVerdict(plan, nodes).verdict();
  }

  private RunTransport verdict() {
    NodeTransport first = nodes.values().iterator().next();
    boolean isAsked = nodes.values().stream().anyMatch(NodeTransport::isAsked);
    var evidence = new RunTransport.Evidence(first.by(), isAsked, first.logs());
    if (nodes.values().stream().allMatch(node -> node.network().isEmpty())) {
      return new RunTransport("not known", "", silence(first), "", evidence);
    }
    String although = isTcp() ? plan.map(each -> each.expected().better()).orElse("") : "";
    if (although.isEmpty()) {
      return new RunTransport(network(), "", "", "", evidence);
    }
    Cause cause = cause();
    return new RunTransport(network(), although, cause.why(), cause.remedy(), evidence);
  }

  private static String silence(NodeTransport node) {
    return node.level().isEmpty() || node.level().equals("INFO") || node.level().equals("TRACE")
        ? "NCCL wrote no log, so the program did not use it, or closed before it did"
        : "NCCL_DEBUG=" + node.level() + " is yours and was kept; with it NCCL does not say it";
  }

  /** The nodes' networks, those with the same together. */
  private String network() {
    var same = new LinkedHashMap<String, List<Integer>>();
    nodes.forEach(
        (index, node) -> {
          if (!node.network().isEmpty()) {
            same.computeIfAbsent(words(node), _ -> new ArrayList<>()).add(index);
          }
        });
    if (same.size() == 1) {
      return same.keySet().iterator().next();
    }
    return same.entrySet().stream()
        .map(each -> each.getKey() + " on " + NodeSet.of(each.getValue()).words())
        .collect(Collectors.joining("; "));
  }

  private static String words(NodeTransport node) {
    if (node.nodes() == 1) {
      return inside(node);
    }
    return node.inside().contains("P2P/MNNVL")
        ? "NVLink between the nodes, then " + between(node)
        : between(node);
  }

  private static String inside(NodeTransport node) {
    boolean isDirect = node.inside().stream().anyMatch(way -> way.startsWith("P2P/"));
    if (isDirect) {
      return "one machine: from GPU to GPU"
          + (node.inside().contains("SHM") ? " and shared memory" : "");
    }
    return node.inside().contains("SHM") ? "one machine: shared memory" : "one machine";
  }

  private static String between(NodeTransport node) {
    if (node.provider().isPresent()) {
      return libfabric(node, node.provider().get());
    }
    if (node.ports() > 0) {
      String link = node.link().orElse("RDMA");
      String plugin = node.network().startsWith("IB") ? "" : " (" + node.network() + ")";
      String rate = node.gbits().map(gbits -> rate(gbits) + " ").orElse("");
      int count = node.used().isEmpty() ? node.ports() : node.used().size();
      return Phrase.counted(count, "rail") + " of " + rate + link + plugin + direct(node);
    }
    if (node.network().equals("Socket")) {
      List<String> carrying = node.used().isEmpty() ? node.interfaces() : node.used();
      return carrying.isEmpty() ? "TCP" : "TCP over " + String.join(", ", carrying);
    }
    String name =
        node.network().equals("FasTrak")
            ? "GPUDirect-TCPXO"
            : node.network().startsWith("GPUDirectTCPX") ? "GPUDirect-TCPX" : node.network();
    return node.interfaces().isEmpty()
        ? name
        : Phrase.counted(node.interfaces().size(), "rail") + " of " + name;
  }

  private static String libfabric(NodeTransport node, String provider) {
    String name =
        switch (provider) {
          case "efa", "efa-direct" -> "EFA";
          case "cxi" -> "Slingshot";
          case "verbs", "verbs;ofi_rxm" -> "RDMA through libfabric";
          default -> "TCP through libfabric (" + provider + ")";
        };
    int devices = (int) Math.min(node.providerDevices(), Integer.MAX_VALUE);
    boolean isCounted = devices > 0 && !name.contains(" ");
    return (isCounted ? Phrase.counted(devices, "rail") + " of " + name : name) + direct(node);
  }

  private static String direct(NodeTransport node) {
    return node.isDirect()
        .map(is -> is ? ", GPUDirect RDMA" : ", without GPUDirect RDMA")
        .orElse("");
  }

  private static String rate(double gbits) {
    return (gbits == Math.rint(gbits) ? String.valueOf((long) gbits) : String.valueOf(gbits)) + "G";
  }

  private boolean isTcp() {
    return nodes.values().stream()
        .filter(node -> node.nodes() != 1 && node.usesGpu())
        .anyMatch(node -> !node.network().isEmpty() && between(node).startsWith("TCP"));
  }

  /**
   * Why RDMA is not used.
   *
   * @param why empty where it is not known
   */
  private record Cause(String why, String remedy) {}

  private Cause cause() {
    if (said("libibverbs").isPresent()) {
      return new Cause(
          "NCCL cannot load libibverbs", "install libibverbs1 or rdma-core in the image");
    }
    if (said("disabled").isPresent()) {
      return new Cause("NCCL_IB_DISABLE is set", "take NCCL_IB_DISABLE out of the environment");
    }
    if (said("memlock").isPresent()) {
      return new Cause(
          "RDMA may not lock its buffers in memory",
          "set the limit to unlimited (ulimit -l; memlock of the container)");
    }
    Optional<FabricFinding> known =
        plan.stream()
            .flatMap(each -> each.findings().stream())
            .filter(finding -> EXPLAINING.contains(finding.kind()) || choosesTcp(finding))
            .findFirst();
    if (known.isPresent()) {
      return new Cause(known.get().what(), known.get().remedy());
    }
    return heard();
  }

  private static boolean choosesTcp(FabricFinding finding) {
    return finding.kind().equals("leftover")
        && (finding.what().contains("NCCL_IB_DISABLE") || finding.what().contains("NCCL_NET="));
  }

  private Cause heard() {
    if (said("open").isPresent()) {
      return new Cause(
          "its devices cannot be opened",
          "ask for the devices (rdma/ib: 1 in the pod), or mount /dev/infiniband");
    }
    Optional<String> provider = said("provider");
    if (provider.isPresent()) {
      return new Cause(provider.get(), LOOK);
    }
    boolean needsPlugin =
        plan.map(FabricPlan::fabric)
            .filter(text -> !text.contains(NodeTransport.INFINIBAND))
            .filter(text -> !text.contains(NodeTransport.ROCE))
            .isPresent();
    if (needsPlugin && said("plugin").isPresent()) {
      return new Cause(
          "NCCL finds no libnccl-net.so", "put the plugin's folder into LD_LIBRARY_PATH");
    }
    return said("no-device").isPresent()
        ? new Cause("NCCL finds no RDMA device", LOOK)
        : new Cause("", isCounted() ? "gpush run --nccl-debug, which says why" : "");
  }

  private boolean isCounted() {
    return nodes.values().stream().allMatch(NodeTransport::isCounted);
  }

  private Optional<String> said(String code) {
    return nodes.values().stream().flatMap(node -> node.said(code).stream()).findFirst();
  }
}
