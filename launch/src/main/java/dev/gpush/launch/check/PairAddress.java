package dev.gpush.launch.check;

import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.launch.fabric.facts.NetInterface;
import dev.gpush.launch.fabric.gang.FabricGang;
import dev.gpush.launch.fabric.gang.NameList;
import dev.gpush.launch.fabric.gang.NodeFabric;
import dev.gpush.launch.fabric.gang.SocketInterfaces;
import java.util.List;
import java.util.Optional;

/**
 * Where the other nodes connect to one node.
 *
 * @param through the interface; empty where none is known
 * @param own the address of that interface, from which the node connects too; empty: any
 * @param address what the others dial
 */
record PairAddress(String through, String own, String address) {
  private static final List<String> CHOICES = List.of("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME");

  /** By the variables of the plan, else by the routes, else the address that the backend knows. */
  static PairAddress of(FabricGang gang, FabricPlan plan, int node, String known) {
    Optional<NodeFabric> facts =
        gang.nodes().stream().filter(each -> each.index() == node).findFirst();
    return facts
        .flatMap(there -> planned(there, plan).or(() -> SocketInterfaces.of(gang, there).chosen()))
        .flatMap(PairAddress::of)
        .orElse(new PairAddress("", "", known));
  }

  private static Optional<PairAddress> of(NetInterface chosen) {
    List<String> usable =
        chosen.addresses().stream().filter(each -> !each.startsWith("fe80")).toList();
    return usable.stream()
        .filter(each -> !each.contains(":"))
        .findFirst()
        .or(() -> usable.stream().findFirst())
        .map(address -> new PairAddress(chosen.name(), address, address));
  }

  private static Optional<NetInterface> planned(NodeFabric node, FabricPlan plan) {
    return CHOICES.stream()
        .flatMap(name -> plan.variables().stream().filter(each -> each.name().equals(name)))
        .filter(each -> each.nodes().contains(node.index()))
        .flatMap(each -> each.value().stream())
        .filter(value -> !value.startsWith("^"))
        .flatMap(value -> node.chosen(NameList.parse(value)).stream())
        .findFirst();
  }
}
