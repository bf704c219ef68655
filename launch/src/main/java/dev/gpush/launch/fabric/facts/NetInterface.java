package dev.gpush.launch.fabric.facts;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A network interface.
 *
 * @param kind ethernet, ipoib, loopback, bridge, bond, veth, tunnel, vlan, wireless, other
 * @param master the bond or bridge that it is part of; empty for none
 * @param addresses without the length of the prefix
 */
public record NetInterface(
    String name, String kind, String master, boolean isUp, Rate rate, List<String> addresses) {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}");

  public NetInterface {
    addresses = List.copyOf(addresses);
  }

  /** How much goes through at a time, and at once. */
  public record Rate(Optional<Double> gbits, Optional<Long> mtu) {}

  public boolean isLoopback() {
    return kind.equals("loopback") || name.equals("lo");
  }

  static Optional<NetInterface> read(FactReader json) {
    String name = json.word("name");
    if (!NAME.matcher(name).matches()) {
      return Optional.empty();
    }
    List<String> addresses =
        json.texts("addresses").stream().map(text -> text.replaceFirst("/.*", "")).toList();
    String state = json.word("state");
    boolean isUp = state.equals("up") || (state.equals("unknown") && !addresses.isEmpty());
    var rate = new Rate(json.rate("gbits"), json.whole("mtu").filter(mtu -> mtu > 0));
    return Optional.of(
        new NetInterface(name, json.word("kind"), json.word("master"), isUp, rate, addresses));
  }
}
