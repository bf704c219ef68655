package dev.gpush.launch.fabric.gang;

import dev.gpush.core.fabric.FabricPlans.UserVariable;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.core.json.Json;
import dev.gpush.launch.fabric.facts.FabricFacts;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * The facts of all nodes, and what the user set.
 *
 * @param environment the strongest last
 */
public record FabricGang(List<NodeFabric> nodes, List<UserVariable> environment) {
  /** As many as a session can have. */
  private static final int MOST_NODES = 256;

  public FabricGang {
    nodes = List.copyOf(nodes);
    environment = List.copyOf(environment);
  }

  /**
   * From a list of facts, or of objects with {@code facts} and what else is known of a node ({@code
   * address}, {@code python}, {@code node}: its number, where they are some nodes of a session);
   * such a list may also lie under {@code nodes}.
   */
  public static FabricGang read(Json gang, List<UserVariable> environment) {
    List<Json> items = gang instanceof Json.Obj ? gang.items("nodes") : gang.items();
    List<Integer> numbers = numbers(items);
    var nodes = new ArrayList<NodeFabric>();
    for (Json item : items.stream().limit(MOST_NODES).toList()) {
      boolean isWrapped = item.get("facts").isPresent();
      Json inner = isWrapped ? item.get("facts").orElse(item) : item;
      Json python = item.get("python").or(() -> inner.get("python")).orElse(Json.object());
      FabricFacts facts = FabricFacts.read(inner, python);
      var addresses = new LinkedHashSet<String>();
      item.text("address").ifPresent(addresses::add);
      addresses.addAll(facts.network().addresses());
      nodes.add(new NodeFabric(numbers.get(nodes.size()), addresses, facts));
    }
    return new FabricGang(nodes, environment);
  }

  /** Those that are given, if each node has its own; else from 0. */
  private static List<Integer> numbers(List<Json> items) {
    List<Integer> given =
        items.stream()
            .filter(item -> item.get("facts").isPresent())
            .flatMap(item -> item.integer("node").stream())
            .filter(number -> number >= 0)
            .toList();
    boolean isComplete = new HashSet<>(given).size() == items.size();
    return isComplete ? given : IntStream.range(0, items.size()).boxed().toList();
  }

  /** The node of this number. */
  public NodeFabric node(int number) {
    return nodes.get(position(number));
  }

  /** Where the node of this number is in the list. */
  public int position(int number) {
    for (int at = 0; at < nodes.size(); at++) {
      if (nodes.get(at).index() == number) {
        return at;
      }
    }
    throw new IllegalArgumentException("no node " + number + " in this gang");
  }

  public int size() {
    return nodes.size();
  }

  public boolean isOneNode() {
    return nodes.size() == 1;
  }

  public NodeSet all() {
    return NodeSet.of(nodes.stream().map(NodeFabric::index).toList());
  }

  public NodeSet where(Predicate<NodeFabric> holds) {
    return NodeSet.of(nodes.stream().filter(holds).map(NodeFabric::index).toList());
  }

  /** The nodes by a property of theirs, in the order of the property's text. */
  public <T extends Comparable<T>> Map<T, NodeSet> by(Function<NodeFabric, T> property) {
    var numbers = new TreeMap<T, List<Integer>>();
    for (NodeFabric node : nodes) {
      numbers.computeIfAbsent(property.apply(node), _ -> new ArrayList<>()).add(node.index());
    }
    var sets = new TreeMap<T, NodeSet>();
    numbers.forEach((value, those) -> sets.put(value, NodeSet.of(those)));
    return sets;
  }

  /** Whether any node has a GPU; without one NCCL is not used. */
  public boolean hasGpus() {
    return nodes.stream().anyMatch(node -> node.facts().gpus().count() > 0);
  }

  /** Whether it can be that NCCL is used: where GPUs could not be read, it can. */
  public boolean mayUseNccl() {
    return hasGpus() || nodes.stream().anyMatch(node -> node.facts().gpus().gpus().isEmpty());
  }
}
