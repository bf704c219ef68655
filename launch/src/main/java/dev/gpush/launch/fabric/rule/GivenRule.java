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
      List.of("NCCL_ALGO", "NCCL_CROSS_NIC", "NCCL_NET", "NCCL_NET_PLUGIN", "NCCL_PROTO");

  /** Set by what grants the GPUs: gpush on hosts, else the scheduler. */
  private static final Map<String, String> OF_THE_SESSION =
      Map.of(
          "CUDA_DEVICE_ORDER",
          "GPUs are numbered as nvidia-smi does",
          "CUDA_VISIBLE_DEVICES",
          "the GPUs that the session holds; a rank sees its own");

  private GivenRule() {}

  public static void write(GangView view, Draft draft) {
    for (NodeFabric node : view.gang().nodes()) {
      for (String name : view.given().names()) {
        view.given().find(node.index(), name).ifPresent(given -> keep(draft, node, given));
      }
    }
    MUST_AGREE.forEach(name -> compare(view, draft, name));
    brokenConfs(view, draft);
  }

  private static void keep(Draft draft, NodeFabric node, Given given) {
    String reason =
        given.authority().equals(Authority.USER)
            ? "set by you; never changed"
            : OF_THE_SESSION.getOrDefault(given.name(), "set by the site; never changed");
    draft.decide(
        given.name(),
        node.index(),
        new Decision(Optional.of(given.value()), reason, given.origin(), given.authority()));
  }

  private static void compare(GangView view, Draft draft, String name) {
    Map<String, NodeSet> values =
        view.gang()
            .by(node -> view.given().find(node.index(), name).map(Given::value).orElse("(unset)"));
    if (values.size() < 2) {
      return;
    }
    draft.refuse(
        "must-agree",
        view.gang().all(),
        name + " differs between the nodes: " + RailRule.listed(values),
        "NCCL hangs or fails when ranks disagree about it",
        "set it for all nodes: " + name + "=VALUE before the command");
  }

  private static void brokenConfs(GangView view, Draft draft) {
    var mistakes = new TreeMap<String, List<Integer>>();
    for (NodeFabric node : view.gang().nodes()) {
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
