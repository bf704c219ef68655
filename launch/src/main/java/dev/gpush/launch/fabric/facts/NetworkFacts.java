package dev.gpush.launch.fabric.facts;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The network interfaces of one node.
 *
 * @param interfaces absent where they could not be read
 * @param routes to other nodes; absent where they could not be read
 * @param defaultRoute the interface of it; empty for none
 */
public record NetworkFacts(
    Optional<List<NetInterface>> interfaces,
    Optional<List<PeerRoute>> routes,
    String defaultRoute) {
  public NetworkFacts {
    interfaces = interfaces.map(List::copyOf);
    routes = routes.map(List::copyOf);
  }

  /** The interface that packets to an address of another node leave by. */
  public record PeerRoute(String to, String through) {}

  public Optional<NetInterface> find(String name) {
    return interfaces.orElse(List.of()).stream()
        .filter(each -> each.name().equals(name))
        .findFirst();
  }

  /** All addresses of the node, but those that every machine has. */
  public Set<String> addresses() {
    var addresses = new LinkedHashSet<String>();
    for (NetInterface each : interfaces.orElse(List.of())) {
      if (!each.isLoopback()) {
        addresses.addAll(each.addresses());
      }
    }
    return addresses;
  }

  static NetworkFacts read(FactReader json) {
    List<NetInterface> interfaces =
        json.objects("interfaces").stream()
            .flatMap(each -> NetInterface.read(each).stream())
            .toList();
    var routes = new ArrayList<PeerRoute>();
    for (FactReader route : json.objects("routes")) {
      String to = route.word("to");
      String through = route.word("interface");
      if (!to.isEmpty() && !through.isEmpty()) {
        routes.add(new PeerRoute(to, through));
      }
    }
    return new NetworkFacts(
        Optional.of(interfaces).filter(_ -> json.isList("interfaces")),
        Optional.<List<PeerRoute>>of(routes).filter(_ -> json.isList("routes")),
        json.word("default_route"));
  }
}
