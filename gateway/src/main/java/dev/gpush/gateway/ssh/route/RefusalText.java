package dev.gpush.gateway.ssh.route;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.Holder;
import dev.gpush.core.text.CleanText;

/**
 * What an ssh client's person reads when nothing can be started: what failed, because of what, and
 * what to try. The shell has the sentences for all failures; these are the few that can happen
 * here.
 */
public record RefusalText(String what, String because, String attempt) {
  /** Anything longer from elsewhere says nothing more. */
  private static final int MAX_FACT = 500;

  static RefusalText of(String user, Failure failure) {
    return switch (failure) {
      case UsageFailure.UnknownSession(var name, var nearest, var known) ->
          new RefusalText(
              "there is no session " + clean(name),
              known.isEmpty() ? "you have none" : "you have " + String.join(", ", known),
              nearest.isEmpty() ? "gpush ps" : "ssh " + nearest.getFirst());
      case SessionFailure.UnknownNode(var session, var node, var nodes) ->
          new RefusalText(
              session + " has no node " + node,
              nodes == 1 ? "it has node 0 only" : "its nodes are 0 to " + (nodes - 1),
              "ssh " + session);
      case SessionFailure.NotReached(var session, var node, var state) ->
          new RefusalText(
              "node " + node + " of " + session + " cannot be reached",
              clean(state),
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
          new RefusalText(session + " has ended", clean(reason), "gpush up -s " + session);
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
              clean(new Holder(holder).words()) + " has attached to it; this gateway only looks on",
              "gpush up");
      case AgentFailure.Refused(var what, var code, var facts) ->
          refused(user, clean(what), code, facts);
      case MachineFailure.NeedsYou(var machine, var login, var methods) ->
          new RefusalText(
              user + " needs you; nothing is lost",
              machine + " asks for " + clean(methods),
              "gpush login " + login);
      case Failure other ->
          new RefusalText(user + " cannot be used", clean(other.toString()), "gpush doctor");
    };
  }

  /** A stream that the agent did not open, or that ended with a code. */
  public static RefusalText ofCode(String user, String what, Json.Obj reason) {
    return refused(user, what, reason.text("code").orElse("unknown"), reason.object("facts"));
  }

  private static RefusalText refused(String user, String what, String code, Json facts) {
    String detail = facts.entries().isEmpty() ? "" : " (" + clean(facts.write()) + ")";
    return switch (code) {
      case "link-over" ->
          new RefusalText(
              "the connection to " + user + " has ended",
              "its link is over" + detail,
              "gpush nodes");
      case "agent-restarted" ->
          new RefusalText(
              "what ran here has ended",
              "the agent on the node was started anew",
              "the same command again");
      case "limit" ->
          new RefusalText(
              what + " was refused",
              "the link to " + user + " has all the streams it can have" + detail,
              "the same command, once some connections are closed");
      default ->
          new RefusalText(
              what + " was refused",
              "the agent on " + user + " says " + clean(code) + detail,
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
