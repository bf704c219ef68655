package dev.gpush.ssh.connection;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.Message;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.AgentCode;
import java.util.List;

/**
 * What the user of an ssh client reads when nothing can be started. Only what was typed after ssh,
 * and streams that the node refuses, have sentences of their own.
 */
public final class SshMessages {
  private SshMessages() {}

  static Message of(String user, Failure failure) {
    Message message = new FailureText(List.of()).of(failure);
    return switch (failure) {
      case UsageFailure.UnknownSession(_, var nearest, _) when !nearest.isEmpty() ->
          new Message(message.what(), message.because(), "ssh " + nearest.getFirst());
      case AgentFailure.Refused(var what, var code, var facts) -> refused(user, what, code, facts);
      case Failure _ -> message;
    };
  }

  /** A stream that the agent did not open, or that ended with a code. */
  public static Message ofCode(String user, String what, Json.Obj reason) {
    return refused(user, what, reason.text("code").orElse("unknown"), reason.object("facts"));
  }

  private static Message refused(String user, String what, String code, Json facts) {
    String detail = AgentCode.inParentheses(facts);
    return switch (code) {
      case "link-over" ->
          Message.of(
              "the connection to " + user + " has ended",
              "the gateway has closed its link" + detail,
              "gpush nodes");
      case "agent-restarted" ->
          Message.of(
              "what ran here has ended",
              "the agent on the node was restarted",
              "the same command again");
      case "limit" ->
          Message.of(
              what + " was refused",
              "the link to " + user + " has as many streams as it can have" + detail,
              "close some connections to it, then the same command again");
      default ->
          Message.of(
              what + " was refused",
              "the agent on " + user + " answers: " + AgentCode.clause(code) + detail,
              "gpush nodes");
    };
  }
}
