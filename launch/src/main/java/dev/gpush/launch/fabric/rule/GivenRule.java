package dev.gpush.launch.fabric.rule;

import dev.gpush.core.fabric.Authority;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.launch.fabric.facts.SiteFacts;
import dev.gpush.launch.fabric.gang.GivenVariables.Given;
import dev.gpush.launch.fabric.gang.NodeFabric;
import dev.gpush.launch.fabric.rule.Draft.Decision;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What users and sites set stays, on every node, and is named; what must agree is compared. */
public final class GivenRule {
  /** NCCL hangs or fails when ranks disagree about these. */
  private static final List<String> MUST_AGREE =
      List.of(
          "NCCL_ALGO",
          "NCCL_CROSS_NIC",
          "NCCL_IB_GID_INDEX",
          "NCCL_NET",
          "NCCL_NET_PLUGIN",
          "NCCL_PROTO");

  /** Old and new names of torch: each version reads one of them, or both. */
  private static final List<List<String>> RENAMED =
      List.of(
          List.of("TORCH_NCCL_TRACE_BUFFER_SIZE", "TORCH_FR_BUFFER_SIZE"),
          List.of("TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "TORCH_FR_DUMP_TEMP_FILE"),
          List.of("NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_ASYNC_ERROR_HANDLING"),
          List.of("NCCL_BLOCKING_WAIT", "TORCH_NCCL_BLOCKING_WAIT"),
          List.of("NCCL_DESYNC_DEBUG", "TORCH_NCCL_DESYNC_DEBUG"));

  private GivenRule() {}

  public static void write(Scene scene, Draft draft) {
    for (NodeFabric node : scene.gang().nodes()) {
      for (String name : scene.given().names()) {
        scene.given().find(node.index(), name).ifPresent(given -> keep(draft, node, given));
      }
      RENAMED.forEach(names -> bothNames(scene, draft, node, names));
    }
    MUST_AGREE.forEach(name -> compare(scene, draft, name));
    RENAMED.forEach(names -> twoValues(scene, draft, names));
    brokenConfs(scene, draft);
  }

  private static void keep(Draft draft, NodeFabric node, Given given) {
    String reason =
        given.authority().equals(Authority.USER)
            ? "set by you; never changed"
            : "set by the site; never changed";
    draft.decide(
        given.name(),
        node.index(),
        new Decision(Optional.of(given.value()), reason, given.origin(), given.authority()));
  }

  /** The name that is not set gets the value of the one that is. */
  private static void bothNames(Scene scene, Draft draft, NodeFabric node, List<String> names) {
    for (String name : names) {
      Optional<Given> given = scene.given().find(node.index(), name);
      if (given.isPresent()) {
        for (String other : names) {
          draft.decide(
              other,
              node.index(),
              new Decision(
                  Optional.of(given.get().value()),
                  "the name that other versions of torch give " + name,
                  given.get().origin(),
                  Authority.DISCOVERY));
        }
      }
    }
  }

  private static void twoValues(Scene scene, Draft draft, List<String> names) {
    NodeSet nodes =
        scene
            .gang()
            .where(
                node ->
                    names.stream()
                            .flatMap(name -> scene.given().find(node.index(), name).stream())
                            .map(Given::value)
                            .distinct()
                            .count()
                        > 1);
    if (!nodes.isEmpty()) {
      draft.warn(
          "renamed",
          nodes,
          nodes.words() + ": " + String.join(" and ", names) + " have different values",
          "they are two names of one setting; which one counts depends on the version of torch",
          "remove one of them");
    }
  }

  private static void compare(Scene scene, Draft draft, String name) {
    Map<String, NodeSet> values =
        scene
            .gang()
            .by(node -> scene.given().find(node.index(), name).map(Given::value).orElse("(unset)"));
    if (values.size() < 2) {
      return;
    }
    var parts = new ArrayList<String>();
    values.forEach((value, nodes) -> parts.add(value + " on " + nodes.words()));
    draft.refuse(
        "must-agree",
        scene.gang().all(),
        name + " differs between the nodes: " + String.join(", ", parts),
        "NCCL hangs or fails when ranks disagree about it",
        "set it for all nodes: " + name + "=VALUE before the command");
  }

  private static void brokenConfs(Scene scene, Draft draft) {
    var mistakes = new TreeMap<String, List<Integer>>();
    for (NodeFabric node : scene.gang().nodes()) {
      for (SiteFacts.Conf conf : node.facts().site().confs()) {
        for (String mistake : conf.mistakes()) {
          mistakes
              .computeIfAbsent(conf.path() + " " + mistake, _ -> new ArrayList<>())
              .add(node.index());
        }
      }
    }
    mistakes.forEach(
        (mistake, numbers) -> {
          NodeSet nodes = NodeSet.of(numbers);
          draft.warn(
              "conf",
              nodes,
              nodes.words() + ": " + mistake,
              "NCCL skips the line",
              "correct the file, or ask who keeps it");
        });
  }
}
