package dev.gpush.gateway.session.links;

import dev.gpush.core.json.Json;
import dev.gpush.core.text.AgentCode;
import dev.gpush.core.text.CleanText;
import dev.gpush.link.Link;
import dev.gpush.link.LinkState;
import java.util.ArrayList;
import java.util.List;

/** What agents cannot do on their nodes, in sentences; everything else works. */
final class MissingFeatures {
  /** Text from a node is cut to about a line. */
  private static final int MOST = 200;

  private MissingFeatures() {}

  static List<String> of(List<Link> links) {
    var sentences = new ArrayList<String>();
    for (Link link : links) {
      if (link.state() instanceof LinkState.Up(var welcome, _)) {
        for (Json lack : welcome.items("cannot")) {
          sentences.add("node " + link.node() + ": " + sentence(lack));
        }
      }
    }
    return sentences;
  }

  private static String sentence(Json lack) {
    Json facts = lack.object("facts");
    String code = lack.text("code").orElse("");
    return switch (code) {
      case "no-state" ->
          "runs cannot be started, because %s cannot be written (%s)"
              .formatted(text(facts, "path"), text(facts, "errno"));
      case "no-environment" ->
          "the login shell %s did not print its environment (%s); a minimal one is used"
              .formatted(text(facts, "shell"), text(facts, "reason"));
      case "few-files", "no-descriptors" ->
          "only few streams at once, because its limit of open files is low (ulimit -n)";
      default -> clean(AgentCode.clause(code) + AgentCode.inParentheses(facts));
    };
  }

  private static String text(Json facts, String key) {
    return clean(facts.text(key).orElse("?"));
  }

  private static String clean(String text) {
    return CleanText.line(text, MOST);
  }
}
