package dev.gpush.ssh.connection;

import dev.gpush.core.text.CleanText;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a login may forward. As under sshd, limits only take away: {@code permitopen} does not bring
 * back what {@code restrict} forbids.
 *
 * @param isAllowed whether it may forward ports and sockets, both ways
 * @param opens the only places that it may connect to; empty: all
 * @param listens the only places where it may listen; empty: all
 */
public record Forwarding(
    boolean isAllowed,
    Optional<List<PermittedPlace>> opens,
    Optional<List<PermittedPlace>> listens) {
  public static final Forwarding ALL = new Forwarding(true, Optional.empty(), Optional.empty());

  public static final Forwarding NONE = new Forwarding(false, Optional.empty(), Optional.empty());

  private static final int LONGEST = 300;

  public Forwarding {
    opens = opens.map(List::copyOf);
    listens = listens.map(List::copyOf);
  }

  public Forwarding withAllowed(boolean allowed) {
    return new Forwarding(allowed, opens, listens);
  }

  /** Also to this place, if there are limits already. */
  public Forwarding withOpen(PermittedPlace place) {
    return new Forwarding(isAllowed, Optional.of(added(opens, place)), listens);
  }

  public Forwarding withListen(PermittedPlace place) {
    return new Forwarding(isAllowed, opens, Optional.of(added(listens, place)));
  }

  private static List<PermittedPlace> added(
      Optional<List<PermittedPlace>> places, PermittedPlace one) {
    List<PermittedPlace> before = places.orElse(List.of());
    if (before.size() >= PermittedPlace.MOST) {
      throw new IllegalArgumentException(
          "more than " + PermittedPlace.MOST + " places of one kind are permitted");
    }
    return Stream.concat(before.stream(), Stream.of(one)).toList();
  }

  /** Lines have limits of places, certificates have none: there is one list, or neither. */
  public Forwarding and(Forwarding other) {
    return new Forwarding(
        isAllowed && other.isAllowed, opens.or(other::opens), listens.or(other::listens));
  }

  /** Why it may not connect to this port; empty when it may. */
  public Optional<String> refusalToConnect(String host, long port) {
    return refusal(
        "connect to " + host + ":" + port,
        opens,
        place -> place.isTarget(host, port),
        "permitopen");
  }

  /** A list of hosts and ports permits no socket, which may lead to any of them. */
  public Optional<String> refusalToConnectToSocket(String path) {
    return refusal("connect to " + path, opens, _ -> false, "permitopen");
  }

  public Optional<String> refusalToListen(String host, long port) {
    return refusal(
        "listen on " + host + ":" + port,
        listens,
        place -> place.isListener(host, port),
        "permitlisten");
  }

  public Optional<String> refusalToListenAtSocket(String path) {
    return refusal("listen on " + path, listens, _ -> false, "permitlisten");
  }

  private Optional<String> refusal(
      String what,
      Optional<List<PermittedPlace>> limits,
      Predicate<PermittedPlace> matches,
      String option) {
    if (!isAllowed) {
      return Optional.of("your key may not forward ports");
    }
    if (limits.isEmpty() || limits.orElseThrow().stream().anyMatch(matches)) {
      return Optional.empty();
    }
    String all =
        limits.orElseThrow().stream().map(PermittedPlace::text).collect(Collectors.joining(", "));
    return Optional.of(
        CleanText.line("your key may not " + what + "; its " + option + " is " + all, LONGEST));
  }
}
