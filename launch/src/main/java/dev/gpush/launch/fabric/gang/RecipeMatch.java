package dev.gpush.launch.fabric.gang;

import dev.gpush.core.fabric.NodeSet;
import dev.gpush.core.fabric.Recipe;
import dev.gpush.core.fabric.Recipe.Kind;
import dev.gpush.core.fabric.Recipe.Proof;
import dev.gpush.launch.fabric.facts.FabricFacts;
import dev.gpush.launch.fabric.facts.GpuFacts.Gpu;
import dev.gpush.launch.fabric.facts.NetInterface;
import dev.gpush.launch.fabric.facts.RdmaPort;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A recipe and the nodes that have its evidence.
 *
 * @param evidence what was found on the first of them: {@code file /opt/microsoft/ndv5-topo.xml}
 */
public record RecipeMatch(Recipe recipe, NodeSet nodes, String evidence) {
  /** Those that match on any node, in the order of the recipes. */
  public static List<RecipeMatch> of(FabricGang gang, List<Recipe> recipes) {
    var matches = new ArrayList<RecipeMatch>();
    for (Recipe recipe : recipes) {
      var nodes = new ArrayList<Integer>();
      Optional<String> first = Optional.empty();
      for (NodeFabric node : gang.nodes()) {
        Optional<String> found = evidence(recipe, node.facts());
        if (found.isPresent()) {
          nodes.add(node.index());
          first = first.or(() -> found);
        }
      }
      if (!nodes.isEmpty()) {
        matches.add(new RecipeMatch(recipe, NodeSet.of(nodes), first.orElse("")));
      }
    }
    return matches;
  }

  /** Whether it decides how nodes talk: then all of them need it. */
  public boolean isTransport() {
    return recipe.plugin() || recipe.script().isPresent() || !recipe.fabric().isEmpty();
  }

  /** Whether it applies: a gang is of one provider. */
  public boolean isWhole(FabricGang gang) {
    return nodes.count() == gang.size();
  }

  private static Optional<String> evidence(Recipe recipe, FabricFacts facts) {
    var found = new ArrayList<String>();
    for (Proof proof : recipe.evidence().proofs()) {
      Optional<String> match =
          candidates(proof.kind(), facts)
              .filter(text -> proof.patterns().stream().anyMatch(each -> matches(each, text)))
              .findFirst();
      if (match.isEmpty()) {
        return Optional.empty();
      }
      found.add(word(proof.kind()) + " " + match.get());
    }
    return found.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", found));
  }

  private static Stream<String> candidates(Kind kind, FabricFacts facts) {
    Stream<RdmaPort> ports = facts.rdma().ports().orElse(List.of()).stream();
    return switch (kind) {
      case FILES -> facts.provider().files().stream();
      case PRODUCT -> facts.provider().product().stream();
      case VENDORS -> ports.map(port -> port.adapter().vendor());
      case ENVIRONMENT ->
          Stream.concat(
                  facts.site().image().keySet().stream(), facts.site().session().keySet().stream())
              .sorted();
      case GPUS -> facts.gpus().gpus().orElse(List.of()).stream().map(Gpu::name);
      case DEVICES -> ports.map(RdmaPort::device);
      case INTERFACES ->
          facts.network().interfaces().orElse(List.of()).stream().map(NetInterface::name);
      case LINK -> ports.filter(RdmaPort::isActive).map(port -> port.link().layer());
    };
  }

  private static String word(Kind kind) {
    return switch (kind) {
      case FILES -> "file";
      case PRODUCT -> "product";
      case VENDORS -> "RDMA vendor";
      case ENVIRONMENT -> "variable";
      case GPUS -> "GPU";
      case DEVICES -> "device";
      case INTERFACES -> "interface";
      case LINK -> "link layer";
    };
  }

  /** {@code *} is any text, {@code ?} one character. */
  public static boolean matches(String pattern, String text) {
    String expression =
        pattern
            .codePoints()
            .mapToObj(
                point ->
                    switch (point) {
                      case '*' -> ".*";
                      case '?' -> ".";
                      default -> Pattern.quote(Character.toString(point));
                    })
            .collect(Collectors.joining());
    return Pattern.matches(expression, text);
  }
}
