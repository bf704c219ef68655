package dev.gpush.core.failure;

import dev.gpush.core.json.Json;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A failure as one clause, for a sentence that has other parts: a reason in a list, a line of the
 * log, what an ssh client reads. The full message in three parts is made by the shell. Each failure
 * has a clause, so that the text of a record or of an exception reaches no user.
 */
public final class FailureClause {
  private FailureClause() {}

  public static String of(Failure failure) {
    return switch (failure) {
      case UsageFailure usage -> usage(usage);
      case ConfigFailure config -> config(config);
      case SessionFailure session -> session(session);
      case BackendFailure backend -> backend(backend);
      case MachineFailure machine -> machine(machine);
      case AgentFailure agent -> agent(agent);
      case SyncFailure sync -> sync(sync);
      case LaunchFailure launch -> launch(launch);
      case GatewayFailure gateway -> gateway(gateway);
    };
  }

  /** Why an agent refused a request, from its code; an unknown code stays as it is. */
  public static String ofCode(String code) {
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
  public static String ofFacts(Json facts) {
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

  private static String usage(UsageFailure failure) {
    return switch (failure) {
      case UsageFailure.UnknownCommand(var word, _) -> "there is no command " + word;
      case UsageFailure.BadArguments(var command, var rule, _) -> "gpush " + command + ": " + rule;
      case UsageFailure.BadValue(var what, var value, var rule) ->
          what + " must be " + rule + ", not '" + value + "'";
      case UsageFailure.BadScript(var file, _) ->
          "the #SBATCH headers of " + file + " cannot be used";
      case UsageFailure.BadCommands(var file, _) -> file + " cannot be run here";
      case UsageFailure.UnknownSession(var name, _, _) -> "there is no session " + name;
      case UsageFailure.WhichSession _ -> "it is not clear which session is meant";
      case UsageFailure.WhichGang _ -> "it is not clear which gang is meant";
      case UsageFailure.NobodyToAsk _ -> "it needs an answer, and there is no terminal to ask on";
      case UsageFailure.NoEditor(var editor, _) -> editor + " is not installed here";
      case UsageFailure.Declined(var question) -> "you answered no to: " + question;
    };
  }

  private static String config(ConfigFailure failure) {
    return switch (failure) {
      case ConfigFailure.Invalid(var problems) ->
          problems.isEmpty()
              ? "the configuration has a mistake"
              : "the configuration has a mistake at "
                  + problems.getFirst().file()
                  + ":"
                  + problems.getFirst().line();
      case ConfigFailure.Unsupported(var key, _, _, var reason) -> key + ": " + reason;
      case ConfigFailure.Unreadable(var file, var reason) -> "cannot read " + file + ": " + reason;
    };
  }

  private static String session(SessionFailure failure) {
    return switch (failure) {
      case SessionFailure.Differs(var session, _) -> session + " does not match this request";
      case SessionFailure.Gone(var session, var reason) -> session + " is gone: " + reason;
      case SessionFailure.NodesLost(var session, var nodes, _, var reason) ->
          session + " has lost " + nodes + ": " + reason;
      case SessionFailure.Busy(var session, var doing) ->
          session + " is busy with another command: " + doing;
      case SessionFailure.UnknownNode(var session, var node, _) -> session + " has no node " + node;
      case SessionFailure.PortTaken(var port) -> "port " + port + " of this machine is taken";
      case SessionFailure.NotReached(var session, var node, var state) ->
          "node " + node + " of " + session + " cannot be reached; the session is " + state;
      case SessionFailure.Queued(var session, _) -> session + " is queued and has no nodes yet";
      case SessionFailure.GivenUp(var session) ->
          "another command cancelled the request for " + session;
      case SessionFailure.CannotExtend(_, var reason, _) -> reason;
      case SessionFailure.HeldElsewhere(var session, var holder, _) ->
          session + " is held by " + holder;
      case SessionFailure.CannotAdopt(var session, var reason) ->
          session + " cannot be adopted: " + reason;
      case SessionFailure.Leaked(_, var backend, var what) -> backend + " may still hold " + what;
    };
  }

  private static String backend(BackendFailure failure) {
    return switch (failure) {
      case BackendFailure.NeverFits(var backend, var reason, _) ->
          backend + " can never grant this: " + reason;
      case BackendFailure.Taken(var backend, var what, _) ->
          backend + " has nothing free for this now: " + what;
      case BackendFailure.Unknown(var backend, _, _) -> "there is no backend " + backend;
      case BackendFailure.Unavailable(var backend, var reason, _) ->
          backend + " cannot be used: " + reason;
      case BackendFailure.ReserveFailed(var backend, var reason) ->
          backend + " could not provide the nodes: " + reason;
      case BackendFailure.NoAnswer(var backend, _) -> backend + " did not answer in time";
      case BackendFailure.Nowhere(var refusals) ->
          refusals.isEmpty()
              ? "no backend can grant this"
              : refusals.stream().map(each -> of(each.failure())).collect(Collectors.joining("; "));
      case BackendFailure.NotReleased(var backend, var gang, var reason) ->
          "gang " + gang + " on " + backend + " may still exist: " + reason;
    };
  }

  private static String machine(MachineFailure failure) {
    return switch (failure) {
      case MachineFailure.UnknownHost(var machine, _) -> "no host is called " + machine;
      case MachineFailure.Refused(var machine, _) -> machine + " refuses connections";
      case MachineFailure.Unreachable(var machine, _) -> machine + " does not answer";
      case MachineFailure.NeedsYou(var machine, var login, _) ->
          machine + " needs you to log in: gpush login " + login;
      case MachineFailure.KeyRefused(var machine, _, _) -> machine + " accepted none of your keys";
      case MachineFailure.HostKeyUnknown(var machine, var login, _) ->
          "the host key of " + machine + " is not known yet: gpush login " + login;
      case MachineFailure.HostKeyChanged(var machine, _) ->
          machine + " has another host key than before";
      case MachineFailure.ProxyFailed(var machine, _) ->
          "the jump host of " + machine + " does not connect to it";
      case MachineFailure.NeedsOpenSsh(var machine, _) -> machine + " needs an OpenSSH client";
      case MachineFailure.NoSsh(_, var program) -> program + " is not installed here";
      case MachineFailure.Broken(var machine, var reason) -> machine + ": " + reason;
    };
  }

  private static String agent(AgentFailure failure) {
    return switch (failure) {
      case AgentFailure.NoPython(var tried) ->
          "there is no Python that the agent can use" + listed(tried);
      case AgentFailure.OldPython(var found) ->
          "the agent needs Python 3.6 or newer, and found " + found;
      case AgentFailure.CannotWrite(var path, var reason) -> "cannot write " + path + ": " + reason;
      case AgentFailure.Held(var what, var holder) -> what + " is held by " + holder;
      case AgentFailure.Superseded _ -> "another gateway holds these nodes";
      case AgentFailure.OtherBuild(var node) ->
          "the agent of node " + node + " is of another build of gpush";
      case AgentFailure.NotThere(_, var node) -> "node " + node + " has no agent";
      case AgentFailure.Died(var detail) -> "the agent ended: " + detail;
      case AgentFailure.NotUnderstood(var detail, _) ->
          "the node sent something that no agent sends: " + detail;
      case AgentFailure.Refused(var what, var code, var facts) ->
          "the node refused " + what + ": " + ofCode(code) + ofFacts(facts);
      case AgentFailure.LinkOver(var node, var reason) ->
          "the link to node " + node + " ended: " + reason;
    };
  }

  private static String sync(SyncFailure failure) {
    return switch (failure) {
      case SyncFailure.Conflicts(var conflicts) ->
          conflicts.isEmpty()
              ? "files on the nodes would be overwritten"
              : conflicts.getFirst().path()
                  + " on node "
                  + conflicts.getFirst().node()
                  + " would be overwritten"
                  + (conflicts.size() == 1 ? "" : ", and " + (conflicts.size() - 1) + " more");
      case SyncFailure.ManyDeleted(var node, var paths, var of) ->
          paths.size() + " of " + of + " files are gone on node " + node;
      case SyncFailure.TooMuch(var root, var why, _, _) ->
          root + " is not copied without asking: " + why;
      case SyncFailure.Unreadable(var path, var reason) -> "cannot read " + path + ": " + reason;
      case SyncFailure.NodeCannotWrite(var node, var code, var path, _) ->
          "node " + node + " cannot write " + path + ": " + ofCode(code);
      case SyncFailure.NoSuchPath(var node, var path) -> "node " + node + " has no " + path;
      case SyncFailure.NotPulled(var node, var path, var why) ->
          "cannot pull " + path + " from node " + node + ": " + why;
      case SyncFailure.NotWritten(var path, var reason) -> "cannot write " + path + ": " + reason;
      case SyncFailure.BadNames(var paths, var rule) -> rule + listed(paths);
    };
  }

  private static String launch(LaunchFailure failure) {
    return switch (failure) {
      case LaunchFailure.NoSuchScript(var script, var folder, _) ->
          folder + " has no script " + script;
      case LaunchFailure.ScriptIgnored(var script, var pattern) ->
          script + " is not sent to the nodes: it is ignored by " + pattern;
      case LaunchFailure.NothingToRepeat(var session) -> session + " has had no run to repeat";
      case LaunchFailure.NoFreeSlots(var asked, _) ->
          "not enough is free for this run, which asks for " + asked;
      case LaunchFailure.BadSlots(var asked, var rule) -> "no run can claim " + asked + ": " + rule;
      case LaunchFailure.NoPython(var node, var tried) ->
          "node " + node + " has no Python for this run" + listed(tried);
      case LaunchFailure.BrokenPython(var node, var python, var reason) ->
          python + " on node " + node + " does not work: " + reason;
      case LaunchFailure.NoEnvironment(var node, var what, var because) ->
          what + " cannot be used on node " + node + ": " + because;
      case LaunchFailure.SetupFailed(var node, _, var status, var said, _) ->
          "setup failed on node "
              + node
              + " with status "
              + status
              + (said.isEmpty() ? "" : ": " + said);
      case LaunchFailure.NoTorch(var python, _) ->
          "this run needs torch, and " + python + " does not have it";
      case LaunchFailure.NoPackage(var python, var name) ->
          "this run needs " + name + ", and " + python + " does not have it";
      case LaunchFailure.NoSnapshot(var node, _, _) ->
          "node " + node + " cannot give the run files of its own";
      case LaunchFailure.NodesDiffer(var what, _) -> "the nodes differ in " + what;
      case LaunchFailure.UnknownRun(var session, var run, _) -> session + " has no run " + run;
      case LaunchFailure.NoJupyter(var node, var program, _) ->
          "no Jupyter server runs on node " + node + ": " + program + " did not start";
      case LaunchFailure.Refused(var node, var code, var detail) ->
          "node " + node + " did not start the run: " + (detail.isEmpty() ? ofCode(code) : detail);
      case LaunchFailure.NoFabric(var troubles) ->
          "no run can start on these nodes"
              + listed(troubles.stream().map(LaunchFailure.Trouble::what).toList());
      case LaunchFailure.Lost(var run, var node) -> "run " + run + " was lost on node " + node;
    };
  }

  private static String gateway(GatewayFailure failure) {
    return switch (failure) {
      case GatewayFailure.HomeUnusable(var path, var reason) ->
          "cannot use " + path + ": " + reason;
      case GatewayFailure.LedgerDamaged(var file, var reason) ->
          "a ledger entry cannot be read; it is kept as " + file + ": " + reason;
    };
  }

  private static String listed(List<String> items) {
    return items.isEmpty() ? "" : ": " + String.join(", ", items);
  }
}
