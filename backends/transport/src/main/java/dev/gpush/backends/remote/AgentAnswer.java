package dev.gpush.backends.remote;

import dev.gpush.core.json.Json;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** What came of asking the agent of one node. */
public sealed interface AgentAnswer {
  record Said(Json json) implements AgentAnswer {}

  /** The node answers, and there is no agent of this gang. */
  record NoAgent() implements AgentAnswer {}

  record Silent(String why) implements AgentAnswer {}

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
