package dev.gpush.backends.kubernetes;

import dev.gpush.backends.floor.AgentAnswer;
import dev.gpush.core.json.Json;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Whose agents have answered so far. A question starts a Python in the pod: who has answered once
 * is not asked again because another was late, or many late ones would keep each other late. What
 * counts is the pod: its successor has another agent.
 */
final class RollCall {
  private final Map<String, Json> said = new HashMap<>();

  /** The same without those that have answered. */
  Pods missing(Pods pods) {
    return new Pods(
        pods.byNode().values().stream().filter(pod -> !said.containsKey(Pods.name(pod))).toList());
  }

  void heard(Pods asked, Map<Integer, AgentAnswer> answers) {
    Map<Integer, Json> answered = AgentAnswer.said(answers);
    asked
        .byNode()
        .forEach(
            (node, pod) -> {
              if (answered.containsKey(node)) {
                said.put(Pods.name(pod), answered.getOrDefault(node, Json.object()));
              }
            });
  }

  /** What the agents of these pods have said, by the number of the node. */
  Map<Integer, Json> said(Pods pods) {
    var byNode = new TreeMap<Integer, Json>();
    pods.byNode()
        .forEach(
            (node, pod) -> {
              if (said.containsKey(Pods.name(pod))) {
                byNode.put(node, said.getOrDefault(Pods.name(pod), Json.object()));
              }
            });
    return byNode;
  }
}
