package dev.gpush.launch.fabric.rule;

import dev.gpush.core.fabric.NodeSet;
import dev.gpush.core.fabric.Recipe;
import dev.gpush.launch.fabric.gang.FabricGang;
import dev.gpush.launch.fabric.gang.GivenVariables;
import dev.gpush.launch.fabric.gang.NodeFabric;
import dev.gpush.launch.fabric.gang.Rails;
import dev.gpush.launch.fabric.gang.RecipeMatch;
import dev.gpush.launch.fabric.gang.SocketInterfaces;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * The gang as rules see it.
 *
 * @param sockets in the order of the nodes
 * @param rails the same
 */
public record GangView(
    FabricGang gang,
    GivenVariables given,
    List<SocketInterfaces> sockets,
    List<Rails> rails,
    List<RecipeMatch> matches) {
  public GangView {
    sockets = List.copyOf(sockets);
    rails = List.copyOf(rails);
    matches = List.copyOf(matches);
  }

  public static GangView of(FabricGang gang, List<Recipe> recipes) {
    return new GangView(
        gang,
        GivenVariables.of(gang),
        gang.nodes().stream().map(node -> SocketInterfaces.of(gang, node)).toList(),
        rails(gang),
        RecipeMatch.of(gang, recipes));
  }

  private static List<Rails> rails(FabricGang gang) {
    List<Rails> alone = gang.nodes().stream().map(Rails::of).toList();
    Set<String> most =
        alone.stream()
            .max(Comparator.comparingInt(rails -> rails.rails().size()))
            .map(Rails::names)
            .orElse(Set.of());
    return alone.stream().map(rails -> rails.withSlow(most)).toList();
  }

  public Rails rails(NodeFabric node) {
    return rails.get(gang.position(node.index()));
  }

  public SocketInterfaces socket(NodeFabric node) {
    return sockets.get(gang.position(node.index()));
  }

  /** The recipes that apply. */
  public List<RecipeMatch> recipes() {
    return matches.stream().filter(match -> match.isWhole(gang)).toList();
  }

  /** Whether a provider's plugin is the transport. */
  public boolean usesPlugin() {
    return recipes().stream().anyMatch(match -> match.recipe().plugin());
  }

  /** Nodes with RDMA ports that NCCL can use. */
  public NodeSet withRails() {
    return gang.where(node -> !rails(node).rails().isEmpty());
  }

  /** Whether it is known of all nodes what their rails are. */
  public boolean knowsRails() {
    return rails.stream().allMatch(Rails::isKnown);
  }

  /** Whether user or site chose TCP on all nodes. */
  public boolean choosesTcp() {
    return gang.nodes().stream().allMatch(node -> given.choosesTcp(node.index()));
  }
}
