package dev.gpush.launch.fabric.gang;

import dev.gpush.launch.fabric.facts.NetInterface;
import dev.gpush.launch.fabric.facts.NetworkFacts;
import dev.gpush.launch.fabric.facts.NetworkFacts.PeerRoute;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * How one node reaches the others over IP.
 *
 * @param chosen the one interface that reaches all of them, where there is one
 * @param several the interfaces, where different ones reach different nodes
 * @param unreachable nodes that no route leads to
 * @param own what NCCL would choose among without a variable, in no order
 * @param isKnown false where facts are missing
 */
public record SocketInterfaces(
    Optional<NetInterface> chosen,
    Set<String> several,
    Set<Integer> unreachable,
    Set<String> own,
    boolean isKnown) {
  private static final SocketInterfaces UNKNOWN =
      new SocketInterfaces(Optional.empty(), Set.of(), Set.of(), Set.of(), false);

  public static SocketInterfaces of(FabricGang gang, NodeFabric node) {
    NetworkFacts network = node.facts().network();
    if (network.interfaces().isEmpty() || network.routes().isEmpty()) {
      return UNKNOWN;
    }
    var through = new TreeSet<String>();
    var unreachable = new TreeSet<Integer>();
    for (NodeFabric other : gang.nodes()) {
      // Bridges of containers have the same address everywhere, so one is not enough.
      boolean isSameMachine =
          !node.addresses().isEmpty() && other.addresses().equals(node.addresses());
      if (other.index() == node.index() || isSameMachine) {
        continue;
      }
      if (other.addresses().isEmpty()) {
        return UNKNOWN;
      }
      List<String> ways =
          network.routes().get().stream()
              .filter(route -> other.addresses().contains(route.to()))
              .map(PeerRoute::through)
              .toList();
      if (ways.isEmpty()) {
        unreachable.add(other.index());
      }
      through.addAll(ways);
    }
    Optional<NetInterface> chosen =
        through.size() == 1 ? network.find(through.first()) : Optional.empty();
    if (through.size() == 1 && chosen.isEmpty()) {
      return UNKNOWN;
    }
    return new SocketInterfaces(
        chosen.filter(each -> !each.isLoopback()),
        through.size() > 1 ? through : Set.of(),
        unreachable,
        own(network.interfaces().get()),
        true);
  }

  /** Interfaces named ib* first; then all but those of containers and virtual machines. */
  private static Set<String> own(List<NetInterface> interfaces) {
    var up = new ArrayList<String>();
    for (NetInterface each : interfaces) {
      boolean isAvoided =
          Stream.of("docker", "lo", "virbr").anyMatch(prefix -> each.name().startsWith(prefix));
      if (each.isUp() && !each.isLoopback() && !isAvoided) {
        up.add(each.name());
      }
    }
    List<String> ib = up.stream().filter(name -> name.startsWith("ib")).toList();
    return new TreeSet<>(ib.isEmpty() ? up : ib);
  }
}
