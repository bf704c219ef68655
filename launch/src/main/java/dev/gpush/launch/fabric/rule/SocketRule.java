package dev.gpush.launch.fabric.rule;

import dev.gpush.core.fabric.Authority;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.launch.fabric.facts.NetInterface;
import dev.gpush.launch.fabric.gang.NameList;
import dev.gpush.launch.fabric.gang.NodeFabric;
import dev.gpush.launch.fabric.gang.SocketInterfaces;
import dev.gpush.launch.fabric.rule.Draft.Decision;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME. NCCL chooses by names of interfaces and does not ask
 * where they lead, so it is told where its choice would be another one than the routes'. Gloo takes
 * the address of the host's own name, which /etc/hosts often maps to 127.0.1.1, so it is always
 * told.
 */
public final class SocketRule {
  private static final String NCCL = "NCCL_SOCKET_IFNAME";
  private static final String GLOO = "GLOO_SOCKET_IFNAME";

  /** Where packets are copied or encrypted one by one. */
  private static final Set<String> SLOW = Set.of("tunnel", "wireless");

  private SocketRule() {}

  public static void write(GangView view, Draft draft) {
    if (view.gang().isOneNode()) {
      draft.leave(NCCL, view.gang().all(), "one machine: its GPUs need no network");
      return;
    }
    for (NodeFabric node : view.gang().nodes()) {
      nccl(view, draft, node);
      gloo(view, draft, node);
    }
    unreachable(view, draft);
    several(view, draft);
    slow(view, draft);
    mtu(view, draft);
  }

  private static void nccl(GangView view, Draft draft, NodeFabric node) {
    SocketInterfaces socket = view.socket(node);
    NodeSet only = NodeSet.of(node.index());
    if (!view.gang().mayUseNccl()) {
      return;
    }
    if (socket.chosen().isEmpty()) {
      draft.leave(NCCL, only, socket.isKnown() ? unclear(socket) : "not enough is known");
      return;
    }
    String name = socket.chosen().get().name();
    if (socket.own().equals(Set.of(name))) {
      draft.leave(NCCL, only, "NCCL chooses " + name + " itself");
      return;
    }
    String choice =
        socket.own().isEmpty() ? "nothing" : String.join(" or ", socket.own().stream().toList());
    String reason = name + " reaches all nodes; NCCL would choose " + shortened(choice, socket);
    draft.decide(
        NCCL,
        node.index(),
        new Decision(Optional.of("=" + name), reason, Draft.FACTS, Authority.DISCOVERY));
  }

  private static String shortened(String choice, SocketInterfaces socket) {
    return socket.own().size() <= 2 ? choice : "among " + socket.own().size() + " interfaces";
  }

  private static String unclear(SocketInterfaces socket) {
    return socket.several().isEmpty()
        ? "the nodes are on one machine, or no route leads to the others"
        : "different interfaces reach different nodes";
  }

  private static void gloo(GangView view, Draft draft, NodeFabric node) {
    Optional<String> decided = draft.decided(NCCL, node.index()).flatMap(Decision::value);
    Optional<String> name = view.socket(node).chosen().map(NetInterface::name);
    String reason = name.orElse("") + " reaches all nodes; gloo would go by the host's name";
    if (decided.isPresent()) {
      NameList names = NameList.parse(decided.get());
      List<String> fitting =
          node.chosen(names).stream()
              .filter(each -> !each.isLoopback())
              .map(NetInterface::name)
              .toList();
      boolean isOther = fitting.size() == 1 && !fitting.equals(name.stream().toList());
      if (isOther) {
        name = Optional.of(fitting.getFirst());
        reason = "the interface that " + NCCL + " names";
      }
    }
    if (name.isPresent()) {
      draft.decide(
          GLOO, node.index(), new Decision(name, reason, Draft.FACTS, Authority.DISCOVERY));
    }
  }

  private static void unreachable(GangView view, Draft draft) {
    for (NodeFabric node : view.gang().nodes()) {
      Set<Integer> lost = view.socket(node).unreachable();
      if (!lost.isEmpty()) {
        NodeSet nodes = NodeSet.of(lost);
        draft.refuse(
            "no-route",
            NodeSet.of(node.index()),
            "node " + node.index() + " has no route to " + nodes.words(),
            "its ranks could not reach theirs, and the run would wait until it times out",
            "take nodes of one network");
      }
    }
  }

  private static void several(GangView view, Draft draft) {
    NodeSet nodes = view.gang().where(node -> !view.socket(node).several().isEmpty());
    if (!nodes.isEmpty()) {
      Set<String> names = view.socket(view.gang().node(nodes.numbers().getFirst())).several();
      draft.warn(
          "several-interfaces",
          nodes,
          nodes.words() + ": other nodes are reached by " + String.join(" and ", names),
          "NCCL is left to choose, and may choose one that does not reach all",
          "name one: NCCL_SOCKET_IFNAME==" + names.iterator().next() + " before the command");
    }
  }

  private static void slow(GangView view, Draft draft) {
    NodeSet nodes =
        view.gang()
            .where(
                node ->
                    view.socket(node)
                        .chosen()
                        .map(each -> SLOW.contains(each.kind()))
                        .orElse(false));
    if (!nodes.isEmpty()) {
      NetInterface first =
          view.socket(view.gang().node(nodes.numbers().getFirst())).chosen().orElseThrow();
      draft.warn(
          "slow-interface",
          nodes,
          nodes.words()
              + ": the other nodes are reached through "
              + first.name()
              + ", a "
              + first.kind()
              + " interface",
          "far below the rate of the network card",
          "give the nodes a direct network");
    }
  }

  private static void mtu(GangView view, Draft draft) {
    Map<Long, NodeSet> sizes =
        view.gang()
            .by(node -> view.socket(node).chosen().flatMap(each -> each.rate().mtu()).orElse(0L));
    sizes.remove(0L);
    if (sizes.size() > 1) {
      draft.warn(
          "mtu",
          view.gang().all(),
          "the MTU differs: "
              + String.join(
                  ", ",
                  sizes.entrySet().stream()
                      .map(each -> each.getKey() + " on " + each.getValue().words())
                      .toList()),
          "large packets are lost or cut up on the way: slow, or it hangs when data gets large",
          "set the same MTU on all nodes");
    }
  }
}
