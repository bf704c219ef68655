package dev.gpush.gateway.session.links;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Decides, for a gang whose nodes are reached through node 0, when a node still gets its own pipe:
 * when its tunnel was refused, when node 0 is lost, and when node 0 alone has been out of reach for
 * a while.
 *
 * <p>The last case is the difficult one. When the laptop is offline all links are cut, and all
 * nodes would ask for a pipe at the moment when the network is back. So one node tries first, and
 * the others follow only when it is linked and node 0 still is not. When node 0 is back, they
 * return.
 *
 * <p>Not thread-safe; times are nanoseconds of one monotonic clock.
 */
final class TunnelPolicy {
  /** A node must be linked for this part of the patience before the others follow it. */
  private static final int SETTLED_PART = 4;

  /** Refusals that no later attempt changes, because agents and their Pythons do not change. */
  private static final Set<String> FOR_GOOD = Set.of("no-tls", "bad-request", "no-key");

  /**
   * A busy node may have refused, or a firewall: then every attempt costs ten seconds without the
   * node.
   */
  private static final Duration TRY_AGAIN = Duration.ofMinutes(10);

  private final Duration patience;
  private final Map<Integer, Standing> standings = new TreeMap<>();
  private final Map<Integer, Refused> refused = new TreeMap<>();
  private final TreeSet<Integer> direct = new TreeSet<>();

  /** The state of a link: whether it is up, and since when. */
  private record Standing(boolean isUp, long sinceNanos) {}

  private record Refused(String code, long sinceNanos) {
    boolean counts(long nowNanos) {
      return FOR_GOOD.contains(code) || nowNanos - sinceNanos < TRY_AGAIN.toNanos();
    }
  }

  enum Choice {
    TUNNEL,
    /** The node gets its own pipe. */
    DIRECT,
    /** The node waits until something changes, or time passes. */
    WAIT
  }

  /**
   * @param patience how long node 0 may be out of reach before others are tried without it
   */
  TunnelPolicy(Collection<Integer> nodes, Duration patience, long nowNanos) {
    this.patience = patience;
    nodes.forEach(node -> standings.put(node, new Standing(false, nowNanos)));
  }

  Duration patience() {
    return patience;
  }

  /**
   * A link came up or went down.
   *
   * @return the nodes whose pipes are no longer needed, because node 0 is back
   */
  List<Integer> changed(int node, boolean isUp, long nowNanos) {
    if (standing(node, nowNanos).isUp() != isUp) {
      standings.put(node, new Standing(isUp, nowNanos));
    }
    if (node != 0 || !isUp) {
      return List.of();
    }
    List<Integer> returning = List.copyOf(direct);
    direct.clear();
    return returning;
  }

  /** Its tunnel was refused. */
  void refuse(int node, String code, long nowNanos) {
    refused.put(node, new Refused(code, nowNanos));
  }

  /** Why there are no tunnels to some nodes, by node. */
  Map<Integer, String> refused() {
    return refused.entrySet().stream()
        .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, each -> each.getValue().code()));
  }

  Choice choose(int node, boolean isNodeZeroLost, long nowNanos) {
    Standing first = standing(0, nowNanos);
    boolean isRefused =
        Optional.ofNullable(refused.get(node)).map(each -> each.counts(nowNanos)).orElse(false);
    if (isNodeZeroLost || isRefused) {
      return Choice.DIRECT;
    }
    if (first.isUp()) {
      return Choice.TUNNEL;
    }
    boolean isLate = nowNanos - first.sinceNanos() >= patience.toNanos();
    if (isLate && (isFirstToTry(node) || isAnotherThere(first, nowNanos))) {
      direct.add(node);
      return Choice.DIRECT;
    }
    return Choice.WAIT;
  }

  private Standing standing(int node, long nowNanos) {
    return standings.getOrDefault(node, new Standing(false, nowNanos));
  }

  private boolean isFirstToTry(int node) {
    Optional<Integer> lowest =
        standings.entrySet().stream()
            .filter(each -> each.getKey() != 0 && !each.getValue().isUp())
            .map(Map.Entry::getKey)
            .findFirst();
    return lowest.isPresent() && lowest.get() == node;
  }

  /**
   * Whether another node has been linked since node 0 went down, for so long that node 0 could be
   * linked too.
   */
  private boolean isAnotherThere(Standing first, long nowNanos) {
    long settled = patience.toNanos() / SETTLED_PART;
    return standings.values().stream()
        .anyMatch(
            each ->
                each.isUp()
                    && each.sinceNanos() - first.sinceNanos() > 0
                    && nowNanos - each.sinceNanos() >= settled);
  }
}
