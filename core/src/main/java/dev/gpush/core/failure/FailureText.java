package dev.gpush.core.failure;

import static dev.gpush.core.text.Phrase.and;
import static dev.gpush.core.text.Phrase.or;

import dev.gpush.core.text.Clean;
import dev.gpush.core.text.Phrase;
import dev.gpush.core.text.SessionCommands;
import dev.gpush.core.text.TypedCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The one place where failures become sentences: what failed, because, and a command that can be
 * pasted. Where that helps, the remedy is made from the typed command: the same command with the
 * option that was missing.
 */
public final class FailureText {
  private final TypedCommand typed;
  private final SessionCommands commands;
  private final RemoteFailureText far;

  /** For a command line, verb first; empty where there is none. */
  public FailureText(List<String> words, SessionCommands commands) {
    this.typed = new TypedCommand(words);
    this.commands = commands;
    this.far = new RemoteFailureText(typed, commands, this);
  }

  /** Where no session was named. */
  public FailureText(List<String> words) {
    this(words, new SessionCommands(Optional.empty()));
  }

  public Message of(Failure failure) {
    return switch (failure) {
      case UsageFailure usage -> usage(usage);
      case ConfigFailure config -> config(config);
      case SessionFailure session -> session(session);
      case BackendFailure backend -> far.backend(backend);
      case MachineFailure machine -> machine(machine);
      case AgentFailure agent -> far.agent(agent);
      case SyncFailure sync -> far.sync(sync);
      case LaunchFailure launch -> far.launch(launch);
      case GatewayFailure gateway -> gateway(gateway);
    };
  }

  /**
   * A failure as one clause, for a sentence that has other parts: a reason in a list, a line of the
   * log, the message of an exception.
   */
  public static String clause(Failure failure) {
    return switch (failure) {
      case MachineFailure.NeedsYou(var machine, var login, _) ->
          machine + " needs you to log in: gpush login " + login;
      case MachineFailure.HostKeyUnknown(var machine, var login, _) ->
          "the host key of " + machine + " is not known yet: gpush login " + login;
      case MachineFailure.KeyRefused(var machine, var login, _) ->
          machine + " accepted none of your keys: gpush login " + login;
      case Failure other -> {
        Message message = new FailureText(List.of()).of(other);
        yield message.what() + ": " + String.join("; ", message.because());
      }
    };
  }

  /** {@link #clause(Failure)} after the backend's name, unless it begins with that. */
  public static String clause(String backend, Failure failure) {
    String clause = clause(failure);
    return clause.startsWith(backend + " ") ? clause : backend + ": " + clause;
  }

  private Message unknown(UsageFailure.UnknownCommand unknown) {
    List<String> nearest = unknown.nearest();
    String what =
        "there is no command "
            + Phrase.quoted(unknown.word())
            + (nearest.isEmpty() ? "" : "; did you mean " + or(nearest) + "?");
    if (unknown.isAtPrompt()) {
      return Message.of(
          what,
          "a program runs on node 0 with @0 in front, and here with !",
          nearest.isEmpty()
              ? "@0 " + typed.forShell()
              : TypedCommand.command(nearest.getFirst(), typed.tail()));
    }
    return nearest.isEmpty()
        ? Message.of(what, "no command has a similar name", "gpush help")
        : Message.of(
            what,
            "no command has that name",
            TypedCommand.command(nearest.getFirst(), typed.tail()));
  }

  private Message usage(UsageFailure failure) {
    return switch (failure) {
      case UsageFailure.UnknownCommand unknown -> unknown(unknown);
      case UsageFailure.BadArguments(var command, var rule, var nearest) ->
          Message.of(
              "gpush " + command + " was not run",
              rule,
              nearest.isEmpty() ? "gpush help " + command : "gpush " + nearest.getFirst());
      case UsageFailure.BadValue(var what, var value, var rule) ->
          Message.of(
              what + " cannot be " + Phrase.quoted(value),
              "it must be " + rule,
              typed.verb().map(word -> "gpush help " + word).orElse("gpush help"));
      case UsageFailure.BadScript(var file, var lines) ->
          new Message(
              "the #SBATCH headers of " + file + " cannot be used",
              Phrase.capped(
                  lines.stream()
                      .map(line -> file + ":" + line.line() + ": " + line.what())
                      .toList()),
              "grep -n '^#SBATCH' " + Clean.word(file));
      case UsageFailure.BadCommands(var file, var lines) ->
          new Message(
              file + " cannot be run here",
              Phrase.capped(
                  lines.stream()
                      .map(line -> file + ":" + line.line() + ": " + line.what())
                      .toList()),
              "cat -n " + Clean.word(file));
      case UsageFailure.UnknownSession(var name, var nearest, var known) ->
          Message.of(
              "there is no session "
                  + Phrase.quoted(name)
                  + (nearest.isEmpty() ? "" : "; did you mean " + or(nearest) + "?"),
              known.isEmpty() ? "you have no session" : "you have " + and(known),
              nearest.isEmpty()
                  ? (known.isEmpty() ? "gpush up -s " + name : "gpush ps")
                  : named(name, nearest.getFirst()));
      case UsageFailure.WhichSession(var known) ->
          known.isEmpty()
              ? Message.of("there is no session", "no folder has one yet", commands.of("up"))
              : Message.of(
                  "it is not clear which session is meant",
                  "this folder has none of its own; you have " + and(known),
                  typed.with("-s", known.getFirst()));
      case UsageFailure.WhichGang(var name, var there, var unasked) ->
          whichGang(name, there, unasked);
      case UsageFailure.NobodyToAsk(var question, var flag) ->
          Message.of(
              "this needs your answer, and there is no terminal to ask on",
              "the question is: " + question,
              typed.with(flag.split(" ", -1)));
      case UsageFailure.NoEditor(var editor, var program) ->
          Message.of(
              editor + " was not opened",
              "the command " + program + " is not on your PATH, and nothing here opens links",
              typed.with("--print"));
      case UsageFailure.Declined(var question, var remedy) ->
          Message.of(
              "stopped; nothing was changed",
              "you answered no to: " + question,
              remedy.isEmpty() ? typed.again() : remedy + ", then " + typed.again());
    };
  }

  /** The same command with the session's own name. */
  private String named(String wrong, String right) {
    String whole = typed.words().isEmpty() ? "gpush ps" : typed.with("-s", right);
    return typed.replaced(wrong, right).orElse(whole);
  }

  private static Message config(ConfigFailure failure) {
    return switch (failure) {
      case ConfigFailure.Invalid(var problems) ->
          new Message(
              problems.size() == 1
                  ? "the configuration has a mistake"
                  : "the configuration has " + problems.size() + " mistakes",
              problems.isEmpty()
                  ? List.of("a file cannot be used")
                  : problems.stream().map(FailureText::problem).toList(),
              "gpush config");
      case ConfigFailure.NoEditNode(var node, var nodes) ->
          Message.of(
              "sync.edit names node " + node + ", which is not there",
              nodes == 1
                  ? "the session's only node is node 0"
                  : "the session's nodes are numbered 0 to " + (nodes - 1),
              "gpush config, which shows the file and line of sync.edit");
      case ConfigFailure.Unreadable(var file, var reason) ->
          Message.of("cannot read " + file, reason, "ls -l " + Clean.word(file));
      case ConfigFailure.NotWritten(var file, var reason) ->
          Message.of(
              file + " was not written", reason, "ls -l " + Clean.word(file) + ", then gpush init");
    };
  }

  private static String problem(ConfigFailure.Problem problem) {
    return problem.file()
        + ":"
        + problem.line()
        + ":"
        + problem.column()
        + " "
        + (problem.key().isEmpty() ? "" : problem.key() + ": ")
        + problem.what()
        + problem.suggestion().map(word -> ", did you mean " + word + "?").orElse("");
  }

  private Message session(SessionFailure failure) {
    return switch (failure) {
      case SessionFailure.Differs(var session, var differences) ->
          new Message(
              session + " does not match this request",
              differences.isEmpty()
                  ? List.of("it was made from another request")
                  : differences.stream()
                      .map(d -> d.what() + ": it has " + d.has() + ", you asked for " + d.asked())
                      .toList(),
              typed.verb().filter("up"::equals).isPresent()
                  ? typed.with("--replace")
                  : replacing(session, differences));
      case SessionFailure.Gone(var session, var reason) ->
          Message.of(session + " is gone", reason, "gpush up -s " + session);
      case SessionFailure.NodesLost(var session, var nodes, var of, var reason) ->
          Message.of(
              session + " has lost " + nodes + " of " + of,
              reason + "; the other nodes still work, and ssh and exec reach them",
              "gpush up -s " + session + " --replace");
      case SessionFailure.Busy(var session, var doing) ->
          Message.of(session + " is busy", "another command is running: " + doing, typed.again());
      case SessionFailure.UnknownNode(var session, var node, var nodes) ->
          Message.of(
              session + " has no node " + node,
              nodes == 1 ? "its only node is node 0" : "its nodes are numbered 0 to " + (nodes - 1),
              "gpush nodes -s " + session);
      case SessionFailure.PortTaken(var port) ->
          Message.of(
              "port " + port + " of this machine cannot be used",
              "another program listens on it, or it needs rights that you do not have",
              commands.of("forward PORT") + ", which takes a free one");
      case SessionFailure.NotReached(var session, var node, var state) ->
          Message.of(
              "node " + node + " of " + session + " cannot be reached",
              "it has no link; the session is " + state,
              "gpush nodes -s " + session);
      case SessionFailure.Queued(var session, var words) ->
          Message.of(
              session + " has no nodes yet",
              words.isEmpty() ? "it is queued" : "it is queued: " + words,
              "gpush up -s " + session);
      case SessionFailure.GivenUp(var session) ->
          Message.of(
              "the request for " + session + " was cancelled",
              "another command cancelled it",
              "gpush up -s " + session);
      case SessionFailure.PushStopped(var session) ->
          Message.of(
              "the files were not sent to " + session,
              "another command stopped this one to end the session",
              "gpush ps");
      case SessionFailure.CannotExtend(var session, var reason, var remedy) ->
          Message.of(
              "the end of " + session + " cannot be moved to that time",
              reason,
              remedy.isEmpty() ? "gpush ps" : remedy);
      case SessionFailure.HeldElsewhere(var session, var holder, var isNamed) ->
          Message.of(
              session + " was not adopted",
              "it is held by " + holder + ", which may still be using it",
              isNamed ? typed.with("--take") : "gpush adopt " + session + " --take");
      case SessionFailure.CannotAdopt(var session, var reason) ->
          Message.of(session + " cannot be adopted", reason, "gpush doctor");
      case SessionFailure.Leaked(var session, var backend, var what) ->
          Message.of(
              session + " has ended here, but " + backend + " may still hold resources of it",
              "gpush could not confirm that this is gone: " + what,
              "gpush down -s " + session);
    };
  }

  private static Message whichGang(
      String name, List<UsageFailure.Adoptable> there, List<String> unasked) {
    String notAsked = unasked.isEmpty() ? "" : "; " + String.join("; ", unasked);
    if (there.isEmpty()) {
      return Message.of(
          "there is nothing to adopt",
          "no configured backend has a gang of yours that is not listed here already" + notAsked,
          "gpush doctor");
    }
    List<String> words =
        there.stream()
            .map(
                gang ->
                    gang.session()
                        + " (gang "
                        + gang.gang()
                        + " on "
                        + gang.backend()
                        + ", of "
                        + gang.holder()
                        + ")")
            .toList();
    return Message.of(
        name.isEmpty()
            ? "it is not clear which gang to adopt"
            : "no single gang matches " + Phrase.quoted(name),
        "there is " + and(words) + notAsked,
        "gpush adopt " + there.getFirst().gang());
  }

  private static String replacing(String session, List<SessionFailure.Difference> differences) {
    var line = new ArrayList<>(List.of("gpush", "up", "-s", session, "--replace"));
    for (SessionFailure.Difference difference : differences) {
      if (List.of("nodes", "gpus", "backend", "python").contains(difference.what())) {
        line.add("--" + difference.what());
        line.add(difference.asked());
      }
    }
    return Clean.command(line);
  }

  private static Message machine(MachineFailure failure) {
    return switch (failure) {
      case MachineFailure.UnknownHost(var machine, var reason) ->
          Message.of("cannot find the host " + machine, reason, "ssh -G " + Clean.word(machine));
      case MachineFailure.Refused(var machine, var reason) ->
          Message.of(
              machine + " refuses connections; its ssh server is not running, or uses another port",
              reason,
              "ssh " + Clean.word(machine));
      case MachineFailure.Unreachable(var machine, var reason) ->
          Message.of(machine + " does not answer", reason, "ssh -v " + Clean.word(machine));
      case MachineFailure.NeedsYou(var machine, var login, var methods) ->
          Message.of(
              machine + " needs you to log in; nothing is lost",
              "only you can give what it asks for: " + methods,
              "gpush login " + Clean.word(login));
      case MachineFailure.KeyRefused(var machine, var login, var reason) ->
          Message.of(
              machine + " accepted none of your keys",
              reason + "; a key with a passphrase must be in your ssh agent",
              "gpush login " + Clean.word(login));
      case MachineFailure.HostKeyUnknown(var machine, var login, var reason) ->
          Message.of(
              "the host key of " + machine + " is not known yet",
              reason,
              "gpush login " + Clean.word(login));
      case MachineFailure.HostKeyChanged(var machine, var reason) ->
          Message.of(
              machine
                  + " has another host key than before: the host was reinstalled, or someone is"
                  + " intercepting the connection; nothing was sent",
              reason,
              "ask its administrator; only if it was reinstalled: ssh-keygen -R "
                  + Clean.word(machine));
      case MachineFailure.ProxyFailed(var machine, var reason) ->
          Message.of(
              "the jump host of " + machine + " does not connect to it",
              reason,
              "ssh -v " + Clean.word(machine));
      case MachineFailure.NeedsOpenSsh(var machine, var reason) ->
          Message.of(
              machine + " needs an OpenSSH client; the one inside gpush cannot connect to it",
              reason,
              "install an OpenSSH client, and use transport: openssh");
      case MachineFailure.NoSsh(var machine, var program) ->
          Message.of(
              machine + " is reached by " + program + ", which is not installed here",
              "it is not on the PATH",
              "install an OpenSSH client");
      case MachineFailure.Broken(var machine, var reason) ->
          Message.of("cannot connect to " + machine, reason, "ssh -v " + Clean.word(machine));
    };
  }

  private static Message gateway(GatewayFailure failure) {
    return switch (failure) {
      case GatewayFailure.HomeUnusable(var path, var reason) ->
          Message.of("cannot use " + path, reason, "ls -ld " + Clean.word(path));
      case GatewayFailure.LedgerDamaged(var file, var reason) ->
          Message.of(
              "a ledger entry cannot be read; it is kept as " + file, reason, "gpush doctor");
      case GatewayFailure.PageUnavailable(var reason) ->
          Message.of("cannot serve the page", reason, "gpush ps");
      case GatewayFailure.PageBesideOthers() ->
          Message.of(
              "cannot serve the page on this machine",
              "gpush uses no port here: other people are logged in, or gateway.ssh in config.yaml is"
                  + " socket; gateway.ssh: port allows one",
              "gpush top");
    };
  }
}
