package dev.gpush.launch.fabric.gang;

import dev.gpush.launch.fabric.facts.FabricFacts;
import dev.gpush.launch.fabric.facts.NetInterface;
import java.util.List;
import java.util.Set;

/**
 * One node of the gang.
 *
 * @param index its number in messages; in a part of a session they do not begin at 0
 * @param addresses where the other nodes may reach it
 */
public record NodeFabric(int index, Set<String> addresses, FabricFacts facts) {
  public NodeFabric {
    addresses = Set.copyOf(addresses);
  }

  /** The interfaces that are up and that a variable with these names chooses. */
  public List<NetInterface> chosen(NameList names) {
    return facts.network().interfaces().orElse(List.of()).stream()
        .filter(each -> each.isUp() && names.chooses(each.name()))
        .toList();
  }
}
