package dev.gpush.launch.fabric.rule;

import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.FabricRate;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.core.fabric.Recipe;
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

  /**
   * The transport that is expected.
   *
   * @param words {@code 8 rails of 400G InfiniBand}
   * @param rate the same on every node; empty where nodes differ and where it is not known
   */
  public record Expected(String words, Optional<FabricRate> rate) {
    private static Expected unmeasured(String words) {
      return new Expected(words, Optional.empty());
    }

    private Expected and(String more) {
      return new Expected(words + more, rate);
    }

    /** What all of these are: with " or " between those that differ, and then without a rate. */
    private static Expected of(List<Expected> each) {
      List<Expected> distinct = each.stream().distinct().toList();
      return distinct.size() == 1
          ? distinct.getFirst()
          : unmeasured(
              distinct.stream()
                  .map(Expected::words)
                  .distinct()
                  .collect(Collectors.joining(" or ")));
    }
  }

  public static Expected expected(GangView view) {
    if (view.gang().isOneNode()) {
      return Expected.unmeasured(oneNode(view.gang().nodes().getFirst().facts().gpus()));
    }
    if (!view.gang().mayUseNccl()) {
      return over("gloo", view);
    }
    if (view.choosesTcp()) {
      return over("TCP", view)
          .and(
              view.given()
                  .tcpChoice(view.gang().nodes().getFirst().index())
                  .map(given -> ", because of " + given.words())
                  .orElse(""));
    }
    Optional<RecipeMatch> named =
        view.recipes().stream().filter(match -> !match.recipe().fabric().isEmpty()).findFirst();
    if (named.isPresent()) {
      return afterNvlink(view, provider(view, named.get().recipe()));
    }
    if (!view.knowsRails()) {
      return Expected.unmeasured(FabricPlan.UNKNOWN);
    }
    NodeSet with = view.withRails();
    long layers = view.rails().stream().map(Rails::layer).distinct().count();
    if (with.count() == view.gang().size() && layers == 1) {
      return afterNvlink(view, rails(view.rails()));
    }
    if (!with.isEmpty()) {
      Map<String, NodeSet> kinds = view.gang().by(node -> view.rails(node).kind());
      kinds.remove("");
      return Expected.unmeasured(
          "none that all nodes have: "
              + kinds.entrySet().stream()
                  .map(each -> each.getKey() + " on " + each.getValue().words())
                  .collect(Collectors.joining(", ")));
    }
    return afterNvlink(view, over("TCP", view).and(although(view)));
  }

  private static Expected afterNvlink(GangView view, Expected then) {
    return spansNvlink(view)
        ? Expected.unmeasured("NVLink between the nodes, then " + then.words())
        : then;
  }

  private static String although(GangView view) {
    boolean isBlocked = view.rails().stream().allMatch(rails -> !rails.blocked().isEmpty());
    return isBlocked
        ? ", although " + Rails.kind(view.rails().getFirst().blocked().getFirst()) + " is there"
        : "";
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

  private static boolean spansNvlink(GangView view) {
    boolean hasImex = view.gang().nodes().stream().allMatch(node -> node.facts().gpus().hasImex());
    String clique =
        distinct(
            view,
            node -> node.facts().provider().labels().getOrDefault("nvidia.com/gpu.clique", ""));
    boolean isOneClique = !clique.isEmpty() && !clique.contains(" or ");
    return hasImex && isOneClique;
  }

  private static Expected provider(GangView view, Recipe recipe) {
    boolean lacksPlugin =
        recipe.plugin()
            && view.gang().nodes().stream()
                .allMatch(
                    node -> node.facts().provider().plugins().map(List::isEmpty).orElse(false));
    if (lacksPlugin) {
      return over("TCP", view).and(", although " + recipe.fabric() + " is there");
    }
    return Expected.of(view.gang().nodes().stream().map(node -> provider(node, recipe)).toList());
  }

  private static Expected provider(NodeFabric node, Recipe recipe) {
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
      return Expected.unmeasured(recipe.fabric());
    }
    String rate = rates.getFirst().map(gbits -> Rails.gbits(gbits) + " ").orElse("");
    return new Expected(count(rates.size()) + " of " + rate + recipe.fabric(), sum(rates));
  }

  private static Expected rails(List<Rails> rails) {
    int least = rails.stream().mapToInt(each -> each.rails().size()).min().orElse(0);
    int most = rails.stream().mapToInt(each -> each.rails().size()).max().orElse(0);
    String kinds = rails.stream().map(Rails::kind).distinct().collect(Collectors.joining(" or "));
    List<Optional<FabricRate>> rates =
        rails.stream()
            .map(node -> sum(node.rails().stream().map(port -> port.link().gbits()).toList()))
            .distinct()
            .toList();
    return new Expected(
        (least == most ? count(most) : least + " to " + most + " rails") + " of " + kinds,
        rates.size() == 1 ? rates.getFirst() : Optional.empty());
  }

  /** Of all rails of a node; empty when one is not known. */
  private static Optional<FabricRate> sum(List<Optional<Double>> rates) {
    return rates.stream().allMatch(Optional::isPresent)
        ? Optional.of(
            new FabricRate(rates.stream().mapToDouble(rate -> rate.orElse(0.0)).sum(), true))
        : Optional.empty();
  }

  private static String count(int rails) {
    return rails == 1 ? "1 rail" : rails + " rails";
  }

  private static Expected over(String what, GangView view) {
    List<Expected> interfaces =
        view.sockets().stream()
            .flatMap(socket -> socket.chosen().stream())
            .map(
                each ->
                    new Expected(
                        each.name()
                            + each.rate()
                                .gbits()
                                .map(rate -> " (" + Rails.gbits(rate) + ")")
                                .orElse(""),
                        each.rate().gbits().map(gbits -> new FabricRate(gbits, false))))
            .toList();
    if (interfaces.isEmpty()) {
      return Expected.unmeasured(what);
    }
    Expected over = Expected.of(interfaces);
    return new Expected(what + " over " + over.words(), over.rate());
  }
}
