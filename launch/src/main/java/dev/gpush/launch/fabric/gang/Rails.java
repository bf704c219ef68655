package dev.gpush.launch.fabric.gang;

import dev.gpush.launch.fabric.facts.NetInterface;
import dev.gpush.launch.fabric.facts.NetworkFacts;
import dev.gpush.launch.fabric.facts.RdmaPort;
import dev.gpush.launch.fabric.facts.RdmaPort.Verbs;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The RDMA ports of one node, sorted by what they are for: the GPUs' traffic or something else.
 *
 * @param rails the ports that GPUs should use
 * @param others active ports for something else: storage, management
 * @param down ports with a device that can be opened, and no link
 * @param blocked ports that the kernel shows and a process cannot open, as in a container
 * @param isKnown false where facts are missing or make no sense: then the rest is empty
 */
public record Rails(
    List<RdmaPort> rails,
    List<RdmaPort> others,
    List<RdmaPort> down,
    List<RdmaPort> blocked,
    boolean isKnown) {
  private static final Rails UNKNOWN = new Rails(List.of(), List.of(), List.of(), List.of(), false);

  public Rails {
    rails = List.copyOf(rails);
    others = List.copyOf(others);
    down = List.copyOf(down);
    blocked = List.copyOf(blocked);
  }

  /** EFA is left out: NCCL reaches it through a plugin, never as an RDMA device. */
  public static Rails of(NodeFabric node) {
    Optional<List<RdmaPort>> known = node.facts().rdma().ports();
    if (known.isEmpty()) {
      return UNKNOWN;
    }
    List<RdmaPort> ports = known.get().stream().filter(port -> !port.isEfa()).toList();
    boolean isWhole =
        ports.stream()
            .allMatch(
                port ->
                    port.adapter().verbs().isPresent()
                        && (!port.isActive() || port.link().gbits().isPresent()));
    if (!isWhole) {
      return UNKNOWN;
    }
    var down = new ArrayList<RdmaPort>();
    var blocked = new ArrayList<RdmaPort>();
    var active = new ArrayList<RdmaPort>();
    for (RdmaPort port : ports) {
      boolean isOpen = port.adapter().verbs().equals(Optional.of(Verbs.OPEN));
      (isOpen ? port.isActive() ? active : down : blocked).add(port);
    }
    List<RdmaPort> rails = best(active, node.facts().network());
    List<RdmaPort> others = active.stream().filter(port -> !rails.contains(port)).toList();
    return new Rails(rails, others, down, blocked, true);
  }

  /** The ports of one kind that together carry most. */
  private static List<RdmaPort> best(List<RdmaPort> active, NetworkFacts network) {
    List<RdmaPort> hardware = active.stream().filter(port -> !port.adapter().isSoftware()).toList();
    List<RdmaPort> free = hardware.stream().filter(port -> !isForOthers(port, network)).toList();
    Map<String, List<RdmaPort>> kinds =
        (free.isEmpty() ? hardware : free)
            .stream()
                .collect(
                    Collectors.groupingBy(
                        port -> port.link().layer() + " " + port.link().gbits().orElse(0.0),
                        LinkedHashMap::new,
                        Collectors.toList()));
    return kinds.values().stream()
        .max(
            Comparator.<List<RdmaPort>>comparingDouble(Rails::total)
                .thenComparingInt(List::size)
                .thenComparing(ports -> ports.getFirst().link().layer()))
        .orElse(List.of());
  }

  private static double total(List<RdmaPort> ports) {
    return ports.stream().mapToDouble(port -> port.link().gbits().orElse(0.0)).sum();
  }

  /** It carries the default route, or is part of a bond: storage and management do that. */
  private static boolean isForOthers(RdmaPort port, NetworkFacts network) {
    if (port.device().contains("bond")) {
      return true;
    }
    for (String name : port.interfaces()) {
      Optional<NetInterface> there = network.find(name);
      boolean isBonded =
          there.map(each -> each.kind().equals("bond") || !each.master().isEmpty()).orElse(false);
      if (isBonded || name.equals(network.defaultRoute())) {
        return true;
      }
    }
    return false;
  }

  /**
   * With the active ports that are rails on other nodes, at another rate here: a rail that has
   * become slow is no storage.
   *
   * @param elsewhere names of the rails of the node that has most
   */
  public Rails withSlow(Set<String> elsewhere) {
    List<RdmaPort> slow =
        others.stream()
            .filter(port -> elsewhere.contains(port.name()) && port.link().layer().equals(layer()))
            .toList();
    if (slow.isEmpty() || rails.size() + slow.size() > elsewhere.size()) {
      return this;
    }
    var whole = new ArrayList<>(rails);
    whole.addAll(slow);
    return new Rails(
        whole,
        others.stream().filter(port -> !slow.contains(port)).toList(),
        down,
        blocked,
        isKnown);
  }

  /** {@code 400G InfiniBand}; empty without rails. */
  public String kind() {
    return rails.isEmpty() ? "" : kind(rails.getFirst());
  }

  /** The same for any port: {@code 100G RoCE}. */
  public static String kind(RdmaPort port) {
    String layer = port.link().layer().equals("Ethernet") ? "RoCE" : port.link().layer();
    return port.link().gbits().map(rate -> gbits(rate) + " ").orElse("") + layer;
  }

  /** As NCCL_IB_HCA takes them. */
  public Set<String> names() {
    return rails.stream().map(RdmaPort::name).collect(Collectors.toSet());
  }

  /** The link layer of the rails; empty without. */
  public String layer() {
    return rails.isEmpty() ? "" : rails.getFirst().link().layer();
  }

  public static String gbits(double rate) {
    return (rate == Math.rint(rate) ? String.valueOf((long) rate) : String.valueOf(rate)) + "G";
  }
}
