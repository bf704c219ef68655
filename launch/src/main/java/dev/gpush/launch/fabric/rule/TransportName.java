package dev.gpush.launch.fabric.rule;

import dev.gpush.core.fabric.ExpectedNetwork;
import dev.gpush.core.fabric.FabricRate;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.core.fabric.Recipe;
import dev.gpush.core.text.Phrase;
import dev.gpush.launch.fabric.facts.FabricFacts;
import dev.gpush.launch.fabric.facts.GpuFacts;
import dev.gpush.launch.fabric.facts.NetInterface;
import dev.gpush.launch.fabric.facts.RdmaPort;
import dev.gpush.launch.fabric.facts.SoftwareVersion;
import dev.gpush.launch.fabric.gang.NodeFabric;
import dev.gpush.launch.fabric.gang.Rails;
import dev.gpush.launch.fabric.gang.RecipeMatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The expected transport in a few words, and the gang itself. */
public final class TransportName {
  private TransportName() {}

  /** {@code 2 nodes, 8 × NVIDIA H100 80GB HBM3 each, NCCL 2.27.3, torch 2.8.0}. */
  public static String gang(GangView view) {
    int count = view.gang().size();
    var parts = new ArrayList<String>();
    parts.add(count == 1 ? "1 machine" : count + " nodes");
    boolean hasNone =
        view.gang().nodes().stream().allMatch(node -> node.facts().gpus().count() == 0);
    String gpus =
        distinct(
            view,
            node -> {
              GpuFacts facts = node.facts().gpus();
              return facts.gpus().isEmpty()
                  ? ""
                  : facts.count() == 0 ? "no GPUs" : facts.count() + " × " + facts.model();
            });
    if (!gpus.isEmpty()) {
      parts.add(gpus + (count > 1 && !hasNone && !gpus.contains(" or ") ? " each" : ""));
    }
    add(parts, "driver ", distinct(view, node -> node.facts().gpus().driver()));
    add(parts, "NCCL ", version(view, facts -> facts.software().nccl()));
    add(parts, "torch ", version(view, facts -> facts.software().torch()));
    return String.join(", ", parts);
  }

  private static void add(List<String> parts, String lead, String text) {
    if (!text.isEmpty()) {
      parts.add(lead + text);
    }
  }

  private static String version(
      GangView view, Function<FabricFacts, Optional<SoftwareVersion>> version) {
    return distinct(
        view, node -> version.apply(node.facts()).map(SoftwareVersion::text).orElse(""));
  }

  private static String distinct(GangView view, Function<NodeFabric, String> property) {
    return view.gang().nodes().stream()
        .map(property)
        .filter(text -> !text.isEmpty())
        .distinct()
        .collect(Collectors.joining(" or "));
  }

  public static ExpectedNetwork expected(GangView view) {
    if (view.gang().isOneNode()) {
      return ExpectedNetwork.named(oneNode(view.gang().nodes().getFirst().facts().gpus()));
    }
    if (!view.gang().mayUseNccl()) {
      return over("gloo", view);
    }
    if (view.choosesTcp()) {
      ExpectedNetwork tcp = over("TCP", view);
      String why =
          view.given()
              .tcpChoice(view.gang().nodes().getFirst().index())
              .map(given -> ", because of " + given.words())
              .orElse("");
      return new ExpectedNetwork(tcp.words() + why, "", tcp.rate());
    }
    Optional<RecipeMatch> named =
        view.recipes().stream().filter(match -> !match.recipe().fabric().isEmpty()).findFirst();
    if (named.isPresent()) {
      return provider(view, named.get().recipe());
    }
    if (!view.knowsRails()) {
      return ExpectedNetwork.UNKNOWN;
    }
    NodeSet with = view.withRails();
    long layers = view.rails().stream().map(Rails::layer).distinct().count();
    if (with.count() == view.gang().size() && layers == 1) {
      return rails(view.rails());
    }
    if (!with.isEmpty()) {
      Map<String, NodeSet> kinds = view.gang().by(node -> view.rails(node).kind());
      kinds.remove("");
      return ExpectedNetwork.named(
          "none that all nodes have: "
              + kinds.entrySet().stream()
                  .map(each -> each.getKey() + " on " + each.getValue().words())
                  .collect(Collectors.joining(", ")));
    }
    return blocked(view).map(kind -> tcpAlthough(view, kind)).orElseGet(() -> over("TCP", view));
  }

  /** The kind of rails that every node has and cannot use. */
  private static Optional<String> blocked(GangView view) {
    boolean isBlocked = view.rails().stream().allMatch(rails -> !rails.blocked().isEmpty());
    return isBlocked
        ? Optional.of(Rails.kind(view.rails().getFirst().blocked().getFirst()))
        : Optional.empty();
  }

  private static ExpectedNetwork tcpAlthough(GangView view, String better) {
    ExpectedNetwork tcp = over("TCP", view);
    String there = better + " is there";
    return new ExpectedNetwork(tcp.words() + ", although " + there, there, tcp.rate());
  }

  /** Something better than TCP. */
  private static ExpectedNetwork there(String words, Optional<FabricRate> rate) {
    return new ExpectedNetwork(
        words, words + (words.contains("rails of ") ? " are there" : " is there"), rate);
  }

  /** What all of these are: with " or " between those that differ, and then without a rate. */
  private static ExpectedNetwork oneOf(
      List<ExpectedNetwork> each, Function<String, ExpectedNetwork> several) {
    List<ExpectedNetwork> distinct = each.stream().distinct().toList();
    return distinct.size() == 1
        ? distinct.getFirst()
        : several.apply(
            distinct.stream()
                .map(ExpectedNetwork::words)
                .distinct()
                .collect(Collectors.joining(" or ")));
  }

  /** How its GPUs reach each other; empty where it has fewer than two, or nothing tells it. */
  private static String oneNode(GpuFacts gpus) {
    if (gpus.count() < 2) {
      return "";
    }
    if (gpus.links().stream().anyMatch(link -> link.matches("NV[0-9]+"))) {
      return "one machine: NVLink";
    }
    if (gpus.links().contains("XGMI")) {
      return "one machine: Infinity Fabric";
    }
    return gpus.links().isEmpty() ? "" : "one machine: PCIe";
  }

  private static ExpectedNetwork provider(GangView view, Recipe recipe) {
    boolean lacksPlugin =
        recipe.plugin()
            && view.gang().nodes().stream()
                .allMatch(
                    node -> node.facts().provider().plugins().map(List::isEmpty).orElse(false));
    if (lacksPlugin) {
      return tcpAlthough(view, recipe.fabric());
    }
    return oneOf(
        view.gang().nodes().stream().map(node -> provider(node, recipe)).toList(),
        words -> there(words, Optional.empty()));
  }

  private static ExpectedNetwork provider(NodeFabric node, Recipe recipe) {
    List<Optional<Double>> rates =
        recipe.rails().isEmpty()
            ? node.facts().rdma().ports().orElse(List.of()).stream()
                .filter(RdmaPort::isActive)
                .map(port -> port.link().gbits())
                .toList()
            : node.facts().network().interfaces().orElse(List.of()).stream()
                .filter(NetInterface::isUp)
                .filter(
                    each ->
                        recipe.rails().stream()
                            .anyMatch(pattern -> RecipeMatch.matches(pattern, each.name())))
                .map(each -> each.rate().gbits())
                .toList();
    if (rates.isEmpty()) {
      return there(recipe.fabric(), Optional.empty());
    }
    String rate = rates.getFirst().map(gbits -> Rails.gbits(gbits) + " ").orElse("");
    return there(
        Phrase.counted(rates.size(), "rail") + " of " + rate + recipe.fabric(), sum(rates));
  }

  private static ExpectedNetwork rails(List<Rails> rails) {
    int least = rails.stream().mapToInt(each -> each.rails().size()).min().orElse(0);
    int most = rails.stream().mapToInt(each -> each.rails().size()).max().orElse(0);
    String kinds = rails.stream().map(Rails::kind).distinct().collect(Collectors.joining(" or "));
    List<Optional<FabricRate>> rates =
        rails.stream()
            .map(node -> sum(node.rails().stream().map(port -> port.link().gbits()).toList()))
            .distinct()
            .toList();
    return there(
        (least == most ? Phrase.counted(most, "rail") : least + " to " + most + " rails")
            + " of "
            + kinds,
        rates.size() == 1 ? rates.getFirst() : Optional.empty());
  }

  /** Of all rails of a node; empty when one is not known. */
  private static Optional<FabricRate> sum(List<Optional<Double>> rates) {
    return rates.stream().allMatch(Optional::isPresent)
        ? Optional.of(
            new FabricRate(rates.stream().mapToDouble(rate -> rate.orElse(0.0)).sum(), true))
        : Optional.empty();
  }

  private static ExpectedNetwork over(String what, GangView view) {
    List<ExpectedNetwork> interfaces =
        view.sockets().stream()
            .flatMap(socket -> socket.chosen().stream())
            .map(
                each ->
                    new ExpectedNetwork(
                        each.name()
                            + each.rate()
                                .gbits()
                                .map(rate -> " (" + Rails.gbits(rate) + ")")
                                .orElse(""),
                        "",
                        each.rate().gbits().map(gbits -> new FabricRate(gbits, false))))
            .toList();
    if (interfaces.isEmpty()) {
      return ExpectedNetwork.named(what);
    }
    ExpectedNetwork over = oneOf(interfaces, ExpectedNetwork::named);
    return new ExpectedNetwork(what + " over " + over.words(), "", over.rate());
  }
}
