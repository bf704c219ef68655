package dev.gpush.launch.fabric.rule;

import dev.gpush.core.fabric.NodeSet;
import dev.gpush.core.text.PhraseTable;
import dev.gpush.launch.fabric.facts.NetInterface;
import dev.gpush.launch.fabric.facts.RdmaPort;
import dev.gpush.launch.fabric.facts.RdmaPort.Gid;
import dev.gpush.launch.fabric.gang.GivenVariables.Given;
import dev.gpush.launch.fabric.gang.NameList;
import dev.gpush.launch.fabric.gang.NodeFabric;
import dev.gpush.launch.fabric.gang.Rails;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Variables that users and sites set and that do harm: copied from another machine, or left over
 * from looking for a fault. They are named with what they cost, and kept.
 */
public final class LeftoverRule {
  private static final List<Leftover> ANYWHERE =
      PhraseTable.rows(LeftoverRule.class, "leftovers.txt", 3).stream()
          .map(row -> new Leftover(Pattern.compile(row.get(0)), row.get(1), row.get(2)))
          .toList();

  /** The default of {@code NCCL_IB_GID_INDEX} since NCCL 2.21. */
  private static final String CHOSEN_BY_NCCL = "-1";

  private final GangView view;
  private final Draft draft;

  private LeftoverRule(GangView view, Draft draft) {
    this.view = view;
    this.draft = draft;
  }

  public static void write(GangView view, Draft draft) {
    new LeftoverRule(view, draft).write();
  }

  /** A variable that does harm whatever the node has. */
  private record Leftover(Pattern name, String value, String cost) {
    boolean is(Given given) {
      return name.matcher(given.name()).matches()
          && switch (value) {
            case "any" -> true;
            case "on" -> given.isOn();
            default -> given.value().equalsIgnoreCase(value);
          };
    }
  }

  /** What one variable of one origin does. */
  private record Harm(String what, String cost) {}

  private void write() {
    Map<Harm, List<Integer>> harms = new LinkedHashMap<>();
    for (String name : view.given().names()) {
      for (NodeFabric node : view.gang().nodes()) {
        Optional<Given> given = view.given().find(node.index(), name);
        if (given.isPresent() && !isOfRecipe(given.get())) {
          cost(node, given.get())
              .map(cost -> new Harm(given.get().words(), cost))
              .ifPresent(
                  harm -> harms.computeIfAbsent(harm, _ -> new ArrayList<>()).add(node.index()));
        }
      }
    }
    harms.forEach(
        (harm, numbers) -> {
          NodeSet nodes = NodeSet.of(numbers);
          boolean isEverywhere = nodes.count() == view.gang().size();
          draft.warn(
              "leftover",
              nodes,
              (isEverywhere ? "" : nodes.words() + ": ") + harm.what(),
              harm.cost(),
              "remove it there, unless you know why it is set");
        });
  }

  private boolean isOfRecipe(Given given) {
    return view.recipes().stream()
        .flatMap(match -> match.recipe().settings().stream())
        .anyMatch(
            setting ->
                setting.name().equals(given.name()) && setting.value().equals(given.value()));
  }

  private Optional<String> cost(NodeFabric node, Given given) {
    String name = given.name();
    return switch (name) {
      case "NCCL_SOCKET_IFNAME" -> socket(node, given.value());
      case "GLOO_SOCKET_IFNAME" -> gloo(node, given.value());
      case "NCCL_IB_DISABLE" -> when(given.isOn() && hasRdma(node), overTcp(node));
      case "NCCL_NET" -> net(node, given.value());
      case "NCCL_IB_HCA" -> hca(node, given.value());
      case "NCCL_IB_GID_INDEX" -> gid(node, given.value());
      case "NCCL_TOPO_FILE" ->
          when(
              !node.facts().provider().files().contains(given.value()),
              "the topology of another machine gives wrong rings, or the file is not there");
      case "FI_PROVIDER" ->
          when(
              given.value().equals("efa") && !hasEfa(node),
              "there is no EFA on this node: libfabric finds no device");
      case "NCCL_DEBUG" ->
          when(
              isLoud(given.value()) && view.given().find(node.index(), "NCCL_DEBUG_FILE").isEmpty(),
              "every rank prints hundreds of lines; WARN is enough, or name NCCL_DEBUG_FILE");
      case "CUDA_VISIBLE_DEVICES" ->
          when(
              isReordered(given.value()),
              "GPUs are renumbered: NCCL and NUMA binding choose worse partners; LOCAL_RANK"
                  + " chooses");
      case "NCCL_MNNVL_ENABLE" ->
          when(
              given.value().equals("1") && !node.facts().gpus().hasImex(),
              "there is no IMEX channel on this node: NCCL stops");
      default -> ANYWHERE.stream().filter(row -> row.is(given)).findFirst().map(Leftover::cost);
    };
  }

  private static Optional<String> when(boolean harmful, String cost) {
    return harmful ? Optional.of(cost) : Optional.empty();
  }

  private boolean hasRdma(NodeFabric node) {
    return !view.gang().isOneNode() && (!view.rails(node).rails().isEmpty() || hasEfa(node));
  }

  private static boolean hasEfa(NodeFabric node) {
    return node.facts().rdma().ports().orElse(List.of()).stream().anyMatch(RdmaPort::isEfa);
  }

  private String overTcp(NodeFabric node) {
    Rails rails = view.rails(node);
    String there = rails.rails().isEmpty() ? "EFA" : rails.kind();
    return there + " stays unused: everything goes over TCP, 10 to 100 times slower";
  }

  private static boolean isLoud(String value) {
    return List.of("INFO", "TRACE").contains(value.toUpperCase(Locale.ROOT));
  }

  private static boolean isReordered(String value) {
    List<String> ids = Arrays.asList(value.split(",", -1));
    boolean isNumbers = ids.stream().allMatch(id -> id.strip().matches("[0-9]{1,3}"));
    List<Integer> numbers =
        isNumbers ? ids.stream().map(id -> Integer.parseInt(id.strip())).toList() : List.of();
    return !numbers.equals(numbers.stream().sorted().toList());
  }

  private Optional<String> socket(NodeFabric node, String value) {
    if (node.facts().network().interfaces().isEmpty()) {
      return Optional.empty();
    }
    List<String> chosen =
        node.chosen(NameList.parse(value)).stream().map(NetInterface::name).toList();
    if (chosen.isEmpty()) {
      return Optional.of("no interface that is up matches: NCCL stops, no socket interface found");
    }
    Optional<String> right = view.socket(node).chosen().map(NetInterface::name);
    return right.flatMap(
        each ->
            when(
                !chosen.contains(each),
                "the nodes reach each other by "
                    + each
                    + ", not by "
                    + String.join(", ", chosen)
                    + ": the start hangs"));
  }

  private static Optional<String> gloo(NodeFabric node, String value) {
    Optional<List<NetInterface>> interfaces = node.facts().network().interfaces();
    List<String> there = interfaces.orElse(List.of()).stream().map(NetInterface::name).toList();
    return Stream.of(value.split(",", -1))
        .filter(name -> interfaces.isPresent() && !there.contains(name))
        .findFirst()
        .map(name -> "there is no interface '" + name + "': gloo stops (names are exact there)");
  }

  private Optional<String> net(NodeFabric node, String value) {
    if (value.equalsIgnoreCase("Socket")) {
      return when(hasRdma(node), overTcp(node));
    }
    if (value.equalsIgnoreCase("IB")) {
      return when(
          view.rails(node).isKnown() && view.rails(node).rails().isEmpty(),
          "there is no RDMA device that NCCL can use: NCCL stops");
    }
    boolean hasNone = node.facts().provider().plugins().map(List::isEmpty).orElse(false);
    return when(hasNone, "there is no network plugin on this node: NCCL stops");
  }

  private Optional<String> hca(NodeFabric node, String value) {
    Rails rails = view.rails(node);
    if (rails.rails().isEmpty()) {
      return Optional.empty();
    }
    NameList names = NameList.parse(value);
    List<RdmaPort> used = chosen(names, rails.rails());
    List<RdmaPort> wrong = chosen(names, rails.others());
    if (used.isEmpty() && wrong.isEmpty()) {
      return Optional.of("no active device matches: everything goes over TCP");
    }
    if (!wrong.isEmpty()) {
      String what = String.join(", ", wrong.stream().map(RdmaPort::device).toList());
      return Optional.of("also uses " + what + " (storage or management): slow, or link types mix");
    }
    return when(
        used.size() < rails.rails().size(),
        "only " + used.size() + " of " + rails.rails().size() + " rails are used");
  }

  private static List<RdmaPort> chosen(NameList names, List<RdmaPort> ports) {
    return ports.stream().filter(port -> names.chooses(port.device(), port.port())).toList();
  }

  private Optional<String> gid(NodeFabric node, String value) {
    Rails rails = view.rails(node);
    if (!rails.layer().equals("Ethernet") || value.equals(CHOSEN_BY_NCCL)) {
      return Optional.empty();
    }
    return rails.rails().stream()
        .filter(port -> !port.gids().isEmpty())
        .filter(
            port ->
                port.gids().stream()
                    .filter(Gid::isRoutableRoce)
                    .noneMatch(gid -> value.equals(String.valueOf(gid.index()))))
        .findFirst()
        .map(
            port ->
                "index "
                    + value
                    + " of "
                    + port.device()
                    + " is no RoCE v2 address: ibv_modify_qp fails, or error 12");
  }
}
