package dev.gpush.shell.render;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The one place where failures become sentences: what failed, because, and a command that can be
 * pasted. The remedy is made from what was typed where that helps: the same command with the option
 * that was missing.
 */
public final class FailureText {
  /** More lines of the same kind say no more. */
  private static final int MOST_LINES = 10;

  private final List<String> words;

  /** For a command line, verb first; empty where there is none. */
  public FailureText(List<String> words) {
    this.words = List.copyOf(words);
  }

  public Message of(Failure failure) {
    return switch (failure) {
      case UsageFailure usage -> usage(usage);
      case ConfigFailure config -> config(config);
      case SessionFailure session -> session(session);
      case BackendFailure backend -> backend(backend);
      case AgentFailure agent -> agent(agent);
      case SyncFailure sync -> sync(sync);
      case LaunchFailure launch -> launch(launch);
      case GatewayFailure gateway -> gateway(gateway);
    };
  }

  private Message usage(UsageFailure failure) {
    return switch (failure) {
      case UsageFailure.UnknownCommand(var word, var nearest) ->
          nearest.isEmpty()
              ? Message.of(
                  "there is no command " + quoted(word),
                  "no command is called nearly like that",
                  "gpush help")
              : Message.of(
                  "there is no command " + quoted(word) + "; did you mean " + or(nearest) + "?",
                  "gpush knows other words",
                  command(nearest.getFirst(), tail()));
      case UsageFailure.BadArguments(var command, var rule, var nearest) ->
          Message.of(
              "gpush " + command + " cannot be called like that",
              rule,
              nearest.isEmpty() ? "gpush help " + command : "gpush " + nearest.getFirst());
      case UsageFailure.BadValue(var what, var value, var rule) ->
          Message.of(
              what + " cannot be " + quoted(value),
              "it is to be " + rule,
              verb().map(word -> "gpush help " + word).orElse("gpush help"));
      case UsageFailure.UnknownSession(var name, var nearest, var known) ->
          Message.of(
              "there is no session "
                  + quoted(name)
                  + (nearest.isEmpty() ? "" : "; did you mean " + or(nearest) + "?"),
              known.isEmpty() ? "you have none" : "you have " + and(known),
              nearest.isEmpty()
                  ? (known.isEmpty() ? "gpush up -s " + name : "gpush ps")
                  : replaced(name, nearest.getFirst()));
      case UsageFailure.WhichSession(var known) ->
          known.isEmpty()
              ? Message.of(
                  "there is no session to do this with",
                  "this folder has none, nor has any other",
                  "gpush up")
              : Message.of(
                  "it is not clear which session is meant",
                  "this folder has none of its own; there is " + and(known),
                  with("-s", known.getFirst()));
      case UsageFailure.NobodyToAsk(var question, var flag) ->
          Message.of(
              "a question needs an answer, and nobody can be asked",
              "it is: " + question,
              with(flag));
      case UsageFailure.Declined(var question) ->
          Message.of("stopped, nothing was changed", "the answer was no to: " + question, again());
    };
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
      case ConfigFailure.Unreadable(var file, var reason) ->
          Message.of("cannot read " + file, reason, "ls -l " + ShellWords.quote(file));
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
              session + " is another gang than the one asked for",
              differences.isEmpty()
                  ? List.of("it was made from another request")
                  : differences.stream()
                      .map(d -> d.what() + ": it has " + d.has() + ", asked for " + d.asked())
                      .toList(),
              verb().filter("up"::equals).isPresent()
                  ? with("--replace")
                  : replacing(session, differences));
      case SessionFailure.Gone(var session, var reason) ->
          Message.of(session + " is gone", reason, "gpush up -s " + session);
      case SessionFailure.Busy(var session, var doing) ->
          Message.of(session + " is busy", "another command is at work: " + doing, again());
      case SessionFailure.UnknownNode(var session, var node, var nodes) ->
          Message.of(
              session + " has no node " + node,
              nodes == 1
                  ? "its one node is number 0"
                  : "its nodes are numbered 0 to " + (nodes - 1),
              "gpush nodes -s " + session);
      case SessionFailure.NotReached(var session, var node, var state) ->
          Message.of(
              "node " + node + " of " + session + " is out of reach",
              "its link is " + state,
              "gpush nodes -s " + session);
      case SessionFailure.CannotExtend(var session, var reason) ->
          Message.of("the end of " + session + " cannot be moved there", reason, "gpush ps");
      case SessionFailure.Leaked(var session, var backend, var what) ->
          Message.of(
              session + " is ended here, but " + backend + " may still hold something of it",
              "nobody could confirm that this is gone: " + what,
              "gpush doctor");
    };
  }

  private static String replacing(String session, List<SessionFailure.Difference> differences) {
    var line = new ArrayList<>(List.of("gpush", "up", "-s", session, "--replace"));
    for (SessionFailure.Difference difference : differences) {
      if (List.of("nodes", "gpus", "backend", "python").contains(difference.what())) {
        line.add("--" + difference.what());
        line.add(difference.asked());
      }
    }
    return ShellWords.join(line);
  }

  private Message backend(BackendFailure failure) {
    return switch (failure) {
      case BackendFailure.NeverFits(var backend, var reason, var works) ->
          Message.of(
              backend + " can never grant this",
              reason + (works.isEmpty() ? "" : "; what would fit: " + or(works)),
              works.stream()
                  .filter(work -> work.startsWith("--"))
                  .findFirst()
                  .map(work -> "gpush up " + work)
                  .orElse("gpush backends"));
      case BackendFailure.Taken(var backend, var what, var holders) ->
          Message.of(
              backend + " has nothing free for this now",
              what + (holders.isEmpty() ? " is in use" : ": held by " + and(holders)),
              "gpush ps");
      case BackendFailure.Unknown(var backend, var known, var nearest) ->
          Message.of(
              "there is no backend "
                  + quoted(backend)
                  + nearest.map(name -> "; did you mean " + name + "?").orElse(""),
              known.isEmpty() ? "none is configured" : "configured: " + and(known),
              nearest.map(name -> replaced(backend, name)).orElse("gpush backends"));
      case BackendFailure.Unavailable(var backend, var reason, var remedy) ->
          Message.of(
              backend + " cannot be used", reason, remedy.isEmpty() ? "gpush backends" : remedy);
      case BackendFailure.ReserveFailed(var backend, var reason) ->
          Message.of(backend + " could not give the gang; nothing is held", reason, again());
      case BackendFailure.NotReleased(var backend, var gang, var reason) ->
          Message.of(
              "gang " + gang + " on " + backend + " may still be there", reason, "gpush doctor");
    };
  }

  private Message agent(AgentFailure failure) {
    return switch (failure) {
      case AgentFailure.NoPython(var tried) ->
          Message.of(
              "a node has no Python that the agent could use",
              tried.isEmpty() ? "none was found" : "none of these could be used: " + and(tried),
              "install Python 3.6 or newer there (python3)");
      case AgentFailure.OldPython(var found) ->
          Message.of(
              "a node's Python is too old for the agent",
              "it is " + found + ", and 3.6 is the oldest that will do",
              "install Python 3.6 or newer there (python3)");
      case AgentFailure.CannotWrite(var path, var reason) ->
          Message.of("a node cannot write " + path, reason, "df -h " + ShellWords.quote(path));
      case AgentFailure.Held(var what, var holder) ->
          Message.of(what + " is not free", "held by " + holder, "gpush doctor");
      case AgentFailure.NotThere(var gang, var node) ->
          Message.of(
              "node " + node + " has no agent",
              "gang " + gang + " left none there, or it has ended",
              "gpush doctor");
      case AgentFailure.Died(var detail) ->
          Message.of("a node's agent ended", detail, "gpush doctor");
      case AgentFailure.NotUnderstood(var detail, var noise) ->
          Message.of(
              "a node does not answer as an agent does",
              detail + (noise.isEmpty() ? "" : "; before that it said: " + noise),
              "gpush doctor");
      case AgentFailure.Refused(var what, var code, var facts) ->
          Message.of("a node refused " + what, refusal(code) + facts(facts), "gpush nodes");
      case AgentFailure.LinkOver(var node, var reason) ->
          Message.of("the link to node " + node + " ended", reason, "gpush nodes");
    };
  }

  private Message sync(SyncFailure failure) {
    return switch (failure) {
      case SyncFailure.Conflicts(var conflicts) ->
          new Message(
              conflicts.size() == 1
                  ? "a file on the nodes is not overwritten"
                  : conflicts.size() + " files on the nodes are not overwritten",
              capped(conflicts.stream().map(FailureText::conflict).toList()),
              verb().filter(List.of("run", "sync")::contains).isPresent()
                  ? with("--overwrite")
                  : "gpush sync --overwrite");
      case SyncFailure.TooMuch(var root, var why, var files, var bytes) ->
          Message.of(
              root + " is not sent without asking",
              why + (files == 0 ? "" : ": " + count(files) + " files, " + size(bytes)),
              with("--yes"));
      case SyncFailure.Unreadable(var path, var reason) ->
          Message.of("cannot read " + path, reason, "ls -l " + ShellWords.quote(path));
      case SyncFailure.NodeCannotWrite(var node, var code, var path, var detail) ->
          Message.of(
              "node " + node + " cannot write " + path,
              refusal(code) + (detail.isEmpty() ? "" : ": " + detail),
              "gpush exec --on " + node + " df -h .");
      case SyncFailure.NoSuchPath(var node, var path) ->
          Message.of(
              "node " + node + " has no " + path,
              "its workspace holds nothing of that name",
              ShellWords.join(List.of("gpush", "exec", "--on", "" + node, "ls")));
      case SyncFailure.BadNames(var paths, var rule) ->
          Message.of(
              paths.size() == 1
                  ? "a file cannot be sent under its name"
                  : "files cannot be sent under their names",
              rule + (paths.isEmpty() ? "" : ": " + and(paths)),
              paths.isEmpty()
                  ? "gpush sync"
                  : ShellWords.join(
                      List.of("mv", paths.getFirst(), paths.getFirst() + ".renamed")));
    };
  }

  private static String conflict(SyncFailure.Conflict conflict) {
    String why =
        switch (conflict.why()) {
          case "changed" -> "was changed there";
          case "foreign" -> "was made there, not by gpush";
          case "type" -> "is something else there, such as a folder";
          case "parent" -> "lies there in what is not a folder of ours";
          default -> conflict.why();
        };
    return "node " + conflict.node() + ": " + conflict.path() + " " + why;
  }

  private Message launch(LaunchFailure failure) {
    return switch (failure) {
      case LaunchFailure.NoSuchScript(var script, var folder, var nearest) ->
          Message.of(
              "there is no script "
                  + quoted(script)
                  + (nearest.isEmpty() ? "" : "; did you mean " + or(nearest) + "?"),
              folder + " has no such file",
              nearest.isEmpty()
                  ? "ls " + ShellWords.quote(folder)
                  : replaced(script, nearest.getFirst()));
      case LaunchFailure.ScriptIgnored(var script, var pattern) ->
          Message.of(
              script + " is here, but is not sent to the nodes",
              "it is ignored by " + pattern,
              "echo " + ShellWords.quote("!" + script) + " >> .gpushignore");
      case LaunchFailure.NothingToRepeat(var session) ->
          Message.of("there is no run to repeat", session + " has had none", "gpush run train.py");
      case LaunchFailure.NoFreeSlots(var asked, var runs) ->
          Message.of(
              "nothing is free for this run: it asks for " + asked,
              runs.isEmpty() ? "all of it is claimed" : "claimed by " + and(runs),
              with("--queue"));
      case LaunchFailure.BadSlots(var asked, var rule) ->
          Message.of("no run can claim " + quoted(asked), rule, "gpush nodes");
      case LaunchFailure.NoPython(var node, var tried) ->
          Message.of(
              "node " + node + " has no Python for this run",
              tried.isEmpty() ? "none was found" : "none of these is there: " + and(tried),
              "gpush exec --on " + node + " 'ls -d /usr/bin/python3* .venv/bin/python'");
      case LaunchFailure.NoTorch(var python, var others) ->
          Message.of(
              "this run wants torch, and " + python + " has none",
              others.isEmpty() ? "no other Python there has it either" : "it is in " + or(others),
              others.isEmpty()
                  ? ShellWords.join(
                      List.of(
                          "gpush", "exec", "--all", "--", python, "-m", "pip", "install", "torch"))
                  : with("--python", others.getFirst()));
      case LaunchFailure.NodesDiffer(var what, var values) ->
          new Message(
              "the nodes differ in " + what,
              values.isEmpty() ? List.of("a run needs them to be the same") : capped(values),
              "gpush exec --all -- python3 -m pip freeze");
      case LaunchFailure.UnknownRun(var session, var run, var known) ->
          Message.of(
              session + " has no run " + quoted(run),
              known.isEmpty() ? "it has had none" : "it has " + and(known),
              "gpush runs -s " + session);
      case LaunchFailure.Refused(var node, var code, var detail) ->
          Message.of(
              "node " + node + " did not start the run",
              refusal(code) + (detail.isEmpty() ? "" : ": " + detail),
              "gpush nodes");
      case LaunchFailure.Lost(var run, var node) ->
          Message.of(
              "run " + run + " was lost on node " + node,
              "its supervisor ended without a word: it was killed, or the machine started anew",
              "gpush logs " + run);
    };
  }

  private static Message gateway(GatewayFailure failure) {
    return switch (failure) {
      case GatewayFailure.CannotStart(var reason, var log) ->
          Message.of(
              "the gateway does not start",
              reason,
              log.isEmpty() ? "gpush gateway start" : "tail " + ShellWords.quote(log));
      case GatewayFailure.NotRunning() ->
          Message.of(
              "the gateway is not running", "nothing answers at its socket", "gpush gateway start");
      case GatewayFailure.OtherBuild(var running, var ours, var sessions) ->
          Message.of(
              "another build of gpush is at work here",
              "it is "
                  + running
                  + ", this is "
                  + ours
                  + (sessions.isEmpty() ? "" : "; it serves " + and(sessions)),
              "gpush gateway stop");
      case GatewayFailure.HomeUnusable(var path, var reason) ->
          Message.of("cannot keep anything in " + path, reason, "ls -ld " + ShellWords.quote(path));
      case GatewayFailure.LedgerDamaged(var file, var reason) ->
          Message.of(
              "an entry of the ledger cannot be read; it is kept as " + file,
              reason,
              "gpush doctor");
      case GatewayFailure.NoProgram(var program, var install) ->
          Message.of(
              program + " is not installed",
              "gpush needs it for this",
              install.isEmpty() ? "command -v " + ShellWords.quote(program) : install);
    };
  }

  /** The agent's code as a clause; an unknown one stays as it is. */
  private static String refusal(String code) {
    return switch (code) {
      case "no-space", "nospace" -> "its disk is full";
      case "read-only" -> "its file system is read-only";
      case "denied" -> "it has no permission";
      case "not-found" -> "something named is not there";
      case "busy" -> "it is in use";
      case "exists" -> "it is there already";
      case "limit" -> "it is beyond a limit";
      case "bad-request" -> "it did not understand what was asked";
      default -> "it says " + (code.isEmpty() ? "nothing more" : code);
    };
  }

  private static String facts(Json facts) {
    String text =
        facts.entries().entrySet().stream()
            .map(
                entry ->
                    entry.getKey()
                        + " "
                        + entry.getValue().asText().orElseGet(() -> entry.getValue().write()))
            .collect(Collectors.joining(", "));
    return text.isEmpty() ? "" : " (" + text + ")";
  }

  private static List<String> capped(List<String> lines) {
    if (lines.size() <= MOST_LINES) {
      return lines;
    }
    var kept = new ArrayList<>(lines.subList(0, MOST_LINES));
    kept.add("and " + (lines.size() - MOST_LINES) + " more");
    return kept;
  }

  private static String and(List<String> items) {
    return list(items, "and");
  }

  private static String or(List<String> items) {
    return list(items, "or");
  }

  private static String list(List<String> items, String last) {
    if (items.size() > MOST_LINES) {
      return String.join(", ", items.subList(0, MOST_LINES))
          + " and "
          + (items.size() - MOST_LINES)
          + " more";
    }
    return items.size() < 2
        ? String.join("", items)
        : String.join(", ", items.subList(0, items.size() - 1))
            + " "
            + last
            + " "
            + items.getLast();
  }

  private static String quoted(String text) {
    return "'" + text + "'";
  }

  private static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /** Bytes as people say them: 14 GB. */
  static String size(long bytes) {
    if (bytes < 1000) {
      return bytes + " B";
    }
    double value = bytes;
    int unit = -1;
    while (value >= 999.5 && unit < 4) {
      value /= 1000;
      unit++;
    }
    return String.format(
        Locale.ROOT, value < 9.95 ? "%.1f %sB" : "%.0f %sB", value, "kMGTP".charAt(unit));
  }

  private Optional<String> verb() {
    return words.stream().findFirst();
  }

  private List<String> tail() {
    return words.isEmpty() ? List.of() : words.subList(1, words.size());
  }

  private String again() {
    return words.isEmpty() ? "gpush ps" : command(words.getFirst(), tail());
  }

  /** What was typed, with more options behind the verb. */
  private String with(String... options) {
    if (words.isEmpty()) {
      return "gpush help";
    }
    var line = new ArrayList<>(List.of(options));
    line.addAll(tail());
    return command(words.getFirst(), line);
  }

  /** What was typed, with one word put right. */
  private String replaced(String wrong, String right) {
    if (!words.contains(wrong)) {
      return words.isEmpty() ? "gpush ps" : with("-s", right);
    }
    var line = new ArrayList<>(words);
    line.set(line.indexOf(wrong), right);
    return command(line.getFirst(), line.subList(1, line.size()));
  }

  private static String command(String verb, List<String> rest) {
    var line = new ArrayList<>(List.of("gpush", verb));
    line.addAll(rest);
    return ShellWords.join(line);
  }
}
