package dev.gpush.core.text;

import dev.gpush.core.json.Json;
import java.util.stream.Collectors;

/** The codes with which an agent refuses a request, and their facts, as parts of sentences. */
public final class AgentCode {
  private AgentCode() {}

  /** Why an agent refused a request; an unknown code stays as it is. */
  public static String clause(String code) {
    return switch (code) {
      case "no-space", "nospace" -> "its disk is full";
      case "read-only" -> "its file system is read-only";
      case "no-folder" -> "none of the folders can be used";
      case "denied" -> "it has no permission";
      case "not-found" -> "something that was named does not exist";
      case "busy", "in-use", "port-taken" -> "it is in use";
      case "held" -> "another process holds it";
      case "exists" -> "it exists already";
      case "limit" -> "it exceeds a limit";
      case "timeout" -> "it took too long";
      case "refused" -> "the connection was refused";
      case "unreachable" -> "the network does not reach it";
      case "closed", "died" -> "it has ended";
      case "starting" -> "its agent is still starting";
      case "failed" -> "it failed";
      case "bad-path" -> "the path is not allowed";
      case "bad-request", "unknown-method", "protocol" -> "it did not understand the request";
      default -> code.isEmpty() ? "it gave no reason" : "its answer was " + code;
    };
  }

  /** The facts of a refusal in parentheses, after a space; empty when there are none. */
  public static String inParentheses(Json facts) {
    String text = facts(facts);
    return text.isEmpty() ? "" : " (" + text + ")";
  }

  /** The facts of a refusal: "path /tmp, errno ENOSPC". */
  public static String facts(Json facts) {
    return facts.entries().entrySet().stream()
        .map(fact -> fact.getKey() + " " + value(fact.getValue()))
        .collect(Collectors.joining(", "));
  }

  private static String value(Json value) {
    return value.asText().orElseGet(value::write);
  }
}
