package dev.gpush.backends.hosts.rack;

import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.text.Phrase;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Hosts that no scheduler manages, as one block of the configuration lists them.
 *
 * @param kind local or ssh
 * @param hosts at least one, in the one order in which all gangs take them
 * @param scratch where workspaces go; {@code ~} and variables are the host's; empty: ~/gpush
 * @param locks the folder of the locks on each host, the same for all its users
 */
public record Rack(
    String name, String kind, List<Host> hosts, Shape shape, String scratch, String locks) {
  /** The system's own Python first: the agent needs any, and shims of version managers are slow. */
  public static final List<String> INTERPRETERS = List.of("/usr/bin/python3", "python3", "python");

  /** The command that finds and configures other places. */
  public static final String ELSEWHERE = "gpush init";

  /** How the nodes of a gang are placed. */
  public sealed interface Shape {
    /**
     * Each node has a host of its own.
     *
     * @param cpuNodes how many nodes without GPUs a host may be at a time; each holds a lock
     */
    record HostPerNode(int cpuNodes) implements Shape {}

    /**
     * All nodes are on the only host, which is the one that gpush runs on. Nodes without GPUs hold
     * no locks.
     *
     * @param mostNodes of a gang
     */
    record OneMachine(int mostNodes) implements Shape {}
  }

  public Rack {
    hosts = List.copyOf(hosts);
    if (hosts.isEmpty()) {
      throw new IllegalArgumentException("a rack has at least one host");
    }
  }

  /** The same, as the nodes of a client's request see it. */
  public Rack forClient(Map<String, String> variables) {
    List<Host> seen = hosts.stream().map(host -> host.forClient(variables)).toList();
    return new Rack(name, kind, seen, shape, scratch, locks);
  }

  /** Why there can be no node, so that nothing may be started to ask for them. */
  public Optional<String> unfit() {
    return hosts.getFirst().unfit();
  }

  /** What no look at the hosts could change. */
  public Optional<Plan.Never> never(GangRequest request) {
    Optional<String> unfit = unfit();
    if (unfit.isPresent()) {
      return Optional.of(new Plan.Never(unfit.get(), List.of(ELSEWHERE)));
    }
    int nodes = request.nodes();
    return switch (shape) {
      case Shape.HostPerNode _ when nodes > hosts.size() ->
          Optional.of(
              new Plan.Never(
                  name + " has " + counted() + ", " + nodes + " are asked for",
                  List.of(
                      "--nodes "
                          + hosts.size()
                          + " --gpus "
                          + (request.gpus().isNone() ? "0" : request.gpus()))));
      case Shape.OneMachine(int most) when nodes > most ->
          Optional.of(
              new Plan.Never(
                  "backend " + name + " is configured for at most " + most + " nodes",
                  List.of("--nodes " + most)));
      case Shape.HostPerNode _, Shape.OneMachine _ -> Optional.empty();
    };
  }

  /** "1 host", "4 hosts". */
  public String counted() {
    return Phrase.counted(hosts.size(), "host");
  }

  /**
   * The host of a node, or a failure that says that the configuration lists it no longer. This
   * machine may have had another name when the node was made.
   */
  public Host hostOf(NodeInfo node) {
    return switch (shape) {
      case Shape.OneMachine _ -> hosts.getFirst();
      case Shape.HostPerNode _ ->
          hosts.stream()
              .filter(host -> host.name().equals(node.host()))
              .findFirst()
              .orElseThrow(() -> notListed(node));
    };
  }

  private GpushException notListed(NodeInfo node) {
    return new GpushException(
        new BackendFailure.Unavailable(
            name, node.host() + " is not among its hosts any more", "gpush config"));
  }

  /** As {@link #hostOf(NodeInfo)}, by the number of the node. */
  public Host hostOf(Gang gang, int node) {
    return gang.nodes().stream()
        .filter(each -> each.index() == node)
        .findFirst()
        .map(this::hostOf)
        .orElseThrow(() -> new IllegalArgumentException("no node " + node + " in " + gang));
  }
}
