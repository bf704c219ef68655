package dev.gpush.ssh.route;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.FailureClause;
import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.Holder;
import dev.gpush.core.text.CleanText;

/**
 * What the user of an ssh client reads when nothing can be started: what failed, because, and what
 * to try. The failures of a session that ssh reaches have words of their own, which name the ssh
 * command; the others share {@link FailureClause} with the rest of gpush.
 */
public record RefusalText(String what, String because, String attempt) {
  /** Longer text from another machine is cut. */
  private static final int MAX_FACT = 500;

  static RefusalText of(String user, Failure failure) {
    return switch (failure) {
      case UsageFailure.UnknownSession(var name, var nearest, var known) ->
          new RefusalText(
              "there is no session " + clean(name),
              known.isEmpty() ? "you have no session" : "you have " + String.join(", ", known),
              nearest.isEmpty() ? "gpush ps" : "ssh " + nearest.getFirst());
      case SessionFailure.UnknownNode(var session, var node, var nodes) ->
          new RefusalText(
              session + " has no node " + node,
              nodes == 1 ? "its only node is node 0" : "its nodes are numbered 0 to " + (nodes - 1),
              "ssh " + session);
      case SessionFailure.NotReached(var session, var node, var state) ->
          new RefusalText(
              "node " + node + " of " + session + " cannot be reached",
              clean("it has no link; the session is " + state),
              "gpush nodes -s " + session);
      case SessionFailure.Queued(var session, var words) ->
          new RefusalText(
              session + " has no nodes yet",
              clean(words.isEmpty() ? "it is queued" : "it is queued: " + words),
              "gpush up -s " + session);
      case SessionFailure.NodesLost(var session, var nodes, _, var reason) ->
          new RefusalText(
              session + " has lost " + nodes,
              clean(reason),
              "gpush up -s " + session + " --replace");
      case SessionFailure.Gone(var session, var reason) ->
          new RefusalText(session + " is gone", clean(reason), "gpush up -s " + session);
      case AgentFailure.LinkOver(var node, var reason) ->
          new RefusalText(
              "the link to node " + node + " of " + user + " has ended",
              clean(reason),
              "gpush nodes");
      case AgentFailure.Held(var what, var holder) ->
          new RefusalText(
              user + " is in use elsewhere",
              clean(what) + " is held by " + clean(holder),
              "gpush doctor");
      case AgentFailure.Superseded(var holder, _) ->
          new RefusalText(
              user + " is held by another gateway",
              clean(new Holder(holder).words()) + " has attached to it; gpush up takes it over",
              "gpush up");
      case AgentFailure.Refused(var what, var code, var facts) ->
          refused(user, clean(what), code, facts);
      case MachineFailure.NeedsYou(var machine, var login, var methods) ->
          new RefusalText(
              user + " needs you to log in; nothing is lost",
              machine + " asks for " + clean(methods),
              "gpush login " + login);
      case SessionFailure _,
          AgentFailure _,
          MachineFailure _,
          UsageFailure _,
          ConfigFailure _,
          BackendFailure _,
          SyncFailure _,
          LaunchFailure _,
          GatewayFailure _ ->
          new RefusalText(
              user + " cannot be used", clean(FailureClause.of(failure)), "gpush doctor");
    };
  }

  /** A stream that the agent did not open, or that ended with a code. */
  public static RefusalText ofCode(String user, String what, Json.Obj reason) {
    return refused(user, what, reason.text("code").orElse("unknown"), reason.object("facts"));
  }

  private static RefusalText refused(String user, String what, String code, Json facts) {
    String known = clean(FailureClause.facts(facts));
    String detail = known.isEmpty() ? "" : " (" + known + ")";
    return switch (code) {
      case "link-over" ->
          new RefusalText(
              "the connection to " + user + " has ended",
              "the gateway has closed its link" + detail,
              "gpush nodes");
      case "agent-restarted" ->
          new RefusalText(
              "what ran here has ended",
              "the agent on the node was restarted",
              "the same command again");
      case "limit" ->
          new RefusalText(
              what + " was refused",
              "the link to " + user + " has as many streams as it can have" + detail,
              "close some connections to it, then the same command again");
      default ->
          new RefusalText(
              what + " was refused",
              "the agent on " + user + " answers: " + clean(FailureClause.ofCode(code)) + detail,
              "gpush nodes");
    };
  }

  /** Three lines for stderr. */
  public String lines() {
    return "gpush: " + what + "\n  because " + because + "\n  try: " + attempt + "\n";
  }

  /** One line, as it fits into the refusal of a channel. */
  public String line() {
    return what + ", because " + because + "; try: " + attempt;
  }

  private static String clean(String text) {
    return CleanText.line(text, MAX_FACT);
  }
}
