package dev.gpush.gateway.session.ledger;

import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.NodeInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The bids for the nodes of a session, and the grant.
 *
 * @param first the backend that has the gang, or is asked first. Its gang id is written before the
 *     backend is asked
 * @param inherit the variables that the session took over from its first client, for that backend
 * @param grant empty until the backend has granted
 * @param others further backends that were asked for the same, or may still hold something of it
 */
public record Reservation(
    Bid first, Map<String, String> inherit, Optional<Gang> grant, List<Bid> others) {
  public Reservation {
    first = first.wanted(true);
    if (grant.isPresent() && !grant.get().id().equals(first.gang())) {
      throw new IllegalArgumentException("granted " + grant.get().id() + " for " + first.gang());
    }
    inherit = Map.copyOf(inherit);
    others = List.copyOf(others);
    if (grant.isPresent() && others.stream().anyMatch(Bid::isWanted)) {
      throw new IllegalArgumentException("granted, and others are wanted");
    }
  }

  /** Of one backend, which has not been asked yet. */
  public static Reservation of(String backend, GangId gang, Map<String, String> inherit) {
    return new Reservation(
        new Bid(backend, "", gang, Optional.empty(), true), inherit, Optional.empty(), List.of());
  }

  Reservation granted(Gang granted) {
    List<Bid> losers = others.stream().map(bid -> bid.wanted(false)).toList();
    return new Reservation(first, inherit, Optional.of(granted), losers);
  }

  /** All bids, while none has been granted. */
  public List<Bid> wanted() {
    var wanted = new ArrayList<Bid>();
    if (grant.isEmpty()) {
      wanted.add(first);
    }
    others.stream().filter(Bid::isWanted).forEach(wanted::add);
    return wanted;
  }

  /** The reservation with these bids; former bids are to be released. */
  public Reservation asking(List<Bid> bids, Map<String, String> inherits) {
    var rest = new ArrayList<>(bids.subList(1, bids.size()));
    var before = new ArrayList<Bid>(others);
    before.add(first);
    before.stream()
        .filter(bid -> bids.stream().noneMatch(each -> each.gang().equals(bid.gang())))
        .map(bid -> bid.wanted(false))
        .forEach(rest::add);
    return new Reservation(bids.getFirst(), inherits, grant, rest);
  }

  /** The reservation after one of several bids failed; its backend may still hold something. */
  public Reservation givenUp(Bid bid) {
    if (!bid.gang().equals(first.gang())) {
      return replaced(bid, List.of(bid.wanted(false)));
    }
    List<Bid> left = others.stream().filter(Bid::isWanted).toList();
    return left.isEmpty() ? this : asking(left, inherit);
  }

  /** Nothing is held there any more. */
  public Reservation without(Bid bid) {
    return replaced(bid, List.of());
  }

  /** The reservation as if this were its only bid. */
  public Reservation only(Bid bid) {
    return new Reservation(bid, inherit, grant, List.of());
  }

  private Reservation replaced(Bid bid, List<Bid> by) {
    var rest = new ArrayList<Bid>();
    for (Bid other : others) {
      rest.addAll(other.gang().equals(bid.gang()) ? by : List.of(other));
    }
    return new Reservation(first, inherit, grant, rest);
  }

  /** The reservation after this bid was granted. */
  Reservation won(Bid bid, Gang granted) {
    if (bid.gang().equals(first.gang())) {
      return granted(granted);
    }
    var rest = new ArrayList<>(others.stream().filter(each -> !each.equals(bid)).toList());
    rest.add(first);
    return new Reservation(bid, inherit, grant, rest).granted(granted);
  }

  /** The reservation with one node replaced by another machine. */
  public Reservation with(NodeInfo node) {
    return new Reservation(first, inherit, grant.map(gang -> gang.with(node)), others);
  }
}
