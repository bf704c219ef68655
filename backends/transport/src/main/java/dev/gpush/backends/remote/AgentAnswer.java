package dev.gpush.backends.remote;

import dev.gpush.core.backend.LinkedAgents;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/** What came of asking the agent of one node. */
public sealed interface AgentAnswer {
  record Said(Json json) implements AgentAnswer {}

  /** The node answers, and there is no agent of this gang. */
  record NoAgent() implements AgentAnswer {}

  record Silent(String why) implements AgentAnswer {}

  /** Asks the agents that have not answered over a link. */
  @FunctionalInterface
  interface Commands<E extends Exception> {
    Map<Integer, AgentAnswer> ask(List<Integer> nodes) throws InterruptedException, E;
  }

  /**
   * Asks agents over their links where these are open, and the others with commands. An agent that
   * hangs does not answer on its link either, so half of the time is left for the commands.
   *
   * @param control the question, as docs/technical/link.md section 1 has it
   */
  static <E extends Exception> Map<Integer, AgentAnswer> ask(
      LinkedAgents linked,
      GangId gang,
      Collection<Integer> nodes,
      Json.Obj control,
      Duration limit,
      Commands<E> commands)
      throws InterruptedException, E {
    Map<Integer, Json> said = linked.ask(gang, nodes, control, limit.dividedBy(2));
    List<Integer> left = nodes.stream().filter(node -> !said.containsKey(node)).toList();
    var answers = new TreeMap<Integer, AgentAnswer>();
    if (!left.isEmpty()) {
      answers.putAll(commands.ask(left));
    }
    // One that has answered over its link stays answered, also if it was asked again.
    said.forEach((node, json) -> answers.put(node, new Said(json)));
    return answers;
  }

  /**
   * Whether a gang exists. A node that does not answer may live; one is lost that has no agent, or
   * of which there is nothing to be asked.
   *
   * @param why a node is lost: "no agent"
   */
  static Observation observation(
      Map<Integer, AgentAnswer> answers, List<NodeInfo> nodes, String why) {
    if (answers.values().stream().anyMatch(answer -> answer instanceof Silent)) {
      return new Observation.CannotTell(silent(answers));
    }
    List<Integer> lost =
        nodes.stream()
            .map(NodeInfo::index)
            .filter(node -> !(answers.get(node) instanceof Said))
            .toList();
    if (lost.isEmpty()) {
      return new Observation.Exists();
    }
    String reason = why + " on " + new Observation.Partly(lost, "").nodes();
    return lost.size() == nodes.size()
        ? new Observation.Gone(reason)
        : new Observation.Partly(lost, reason);
  }

  /**
   * Fails unless a new lease will hold: the other nodes take their limits from node 0 as long as
   * its agent runs, so without its answer they return to the old ones. Where it has ended, each of
   * the others must have answered.
   */
  static void requireRenewed(Map<Integer, AgentAnswer> answers) throws Unanswered {
    boolean isOneSilent = answers.values().stream().anyMatch(Silent.class::isInstance);
    if (said(answers).isEmpty() || (isOneSilent && !(answers.get(0) instanceof Said))) {
      throw new Unanswered(silent(answers), null);
    }
  }

  /** The nodes that answer and have no agent. */
  static List<Integer> withoutAgent(Map<Integer, AgentAnswer> answers) {
    return answers.entrySet().stream()
        .filter(node -> node.getValue() instanceof NoAgent)
        .map(Map.Entry::getKey)
        .toList();
  }

  /**
   * The files that agents have left in place at their release, each with its node.
   *
   * @param workspace of a node, which the agents' paths start from; empty if it is not known
   */
  static List<String> kept(Map<Integer, Json> said, IntFunction<String> workspace) {
    var kept = new ArrayList<String>();
    said.forEach(
        (node, json) -> {
          String folder = workspace.apply(node);
          for (String path : json.texts("kept")) {
            boolean isWhole = path.startsWith("/") || folder.isEmpty();
            kept.add("node " + node + ": " + (isWhole ? path : folder + "/" + path));
          }
        });
    return kept;
  }

  /** The processes that did not end at a release, each with its node; empty if all did. */
  static String left(Map<Integer, Json> said) {
    var left = new ArrayList<String>();
    said.forEach(
        (node, json) ->
            json.texts("left").forEach(process -> left.add(process + " on node " + node)));
    return left.isEmpty() ? "" : "SIGKILL does not end " + ClusterText.list(left);
  }

  /** Of those that did say something, by the number of the node. */
  static Map<Integer, Json> said(Map<Integer, AgentAnswer> answers) {
    var said = new TreeMap<Integer, Json>();
    answers.forEach(
        (node, answer) -> {
          if (answer instanceof Said(var json)) {
            said.put(node, json);
          }
        });
    return said;
  }

  /** "node 1: no answer for 30 s". */
  static String silent(Map<Integer, AgentAnswer> answers) {
    return ClusterText.list(
        answers.entrySet().stream()
            .flatMap(
                each ->
                    switch (each.getValue()) {
                      case Said _ -> Stream.<String>empty();
                      case NoAgent _ -> Stream.of("node " + each.getKey() + ": no agent");
                      case Silent(var why) -> Stream.of("node " + each.getKey() + ": " + why);
                    })
            .toList());
  }
}
