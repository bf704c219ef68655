package dev.gpush.core.failure;

import static dev.gpush.core.text.Phrase.and;
import static dev.gpush.core.text.Phrase.or;

import dev.gpush.core.text.AgentCode;
import dev.gpush.core.text.Clean;
import dev.gpush.core.text.Phrase;
import dev.gpush.core.text.SessionCommands;
import dev.gpush.core.text.TypedCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@link FailureText} of backends, agents and nodes. */
final class RemoteFailureText {
  /** EPERM: so macOS refuses folders for which a program has no grant of the user. */
  private static final String NOT_PERMITTED = "Operation not permitted";

  private static final String PRIVACY =
      "; on a Mac, allow your terminal in System Settings > Privacy & Security > Files and Folders,"
          + " then gpush gateway stop";

  private final TypedCommand typed;
  private final SessionCommands commands;
  private final FailureText whole;

  RemoteFailureText(TypedCommand typed, SessionCommands commands, FailureText whole) {
    this.typed = typed;
    this.commands = commands;
    this.whole = whole;
  }

  Message backend(BackendFailure failure) {
    return switch (failure) {
      case BackendFailure.NeverFits(var backend, var reason, var works) ->
          Message.of(
              backend + " can never grant this",
              reason + (fits(works).isEmpty() ? "" : "; what would fit: " + or(fits(works))),
              fits(works).stream()
                  .findFirst()
                  .map(this::up)
                  .orElse(works.stream().findFirst().orElse("gpush backends")));
      case BackendFailure.Taken(var backend, var what, var holders) ->
          Message.of(
              backend + " has nothing free for this now",
              what + (holders.isEmpty() ? " is in use" : ": held by " + and(holders)),
              "gpush ps");
      case BackendFailure.Unknown(var backend, var known, var nearest) ->
          Message.of(
              "there is no backend "
                  + Phrase.quoted(backend)
                  + nearest.map(name -> "; did you mean " + name + "?").orElse(""),
              known.isEmpty() ? "none is configured" : "configured: " + and(known),
              nearest.flatMap(name -> typed.replaced(backend, name)).orElse("gpush backends"));
      case BackendFailure.Unavailable(var backend, var reason, var remedy) ->
          Message.of(
              backend + " cannot be used", reason, remedy.isEmpty() ? "gpush backends" : remedy);
      case BackendFailure.ReserveFailed(var backend, var reason) ->
          Message.of(
              backend + " could not provide the nodes; nothing is reserved", reason, typed.again());
      case BackendFailure.ImageRefused(var backend, var reason, var remedy) ->
          Message.of(
              backend + " cannot pull the image; nothing is reserved",
              reason,
              remedy.isEmpty() ? typed.again() : remedy);
      case BackendFailure.NoAnswer(var backend, var waited) ->
          Message.of(
              backend + " did not answer",
              "it sent nothing for " + waited,
              "gpush backends --explain");
      case BackendFailure.Nowhere(var refusals) -> nowhere(refusals);
      case BackendFailure.NotReleased(var backend, var gang, var reason) ->
          Message.of(
              "gang " + gang + " on " + backend + " may still exist", reason, "gpush doctor");
    };
  }

  /** Of an up the rest stays: its backend, and how long it is wanted. */
  private String up(String options) {
    return typed.verb().filter("up"::equals).isPresent()
        ? typed.instead(List.of(options.split(" ", -1)))
        : commands.of("up " + options);
  }

  /** Each backend with its own reason, and the first remedy that may help. */
  private Message nowhere(List<BackendFailure.Refusal> refusals) {
    boolean isForEver =
        !refusals.isEmpty()
            && refusals.stream()
                .allMatch(each -> each.failure() instanceof BackendFailure.NeverFits);
    var reasons = new ArrayList<String>();
    for (BackendFailure.Refusal each : refusals) {
      Message message = whole.of(each.failure());
      String because = String.join("; ", message.because());
      boolean saysMore =
          each.failure() instanceof BackendFailure.NeverFits
              || each.failure() instanceof BackendFailure.Taken;
      reasons.add(each.backend() + ": " + (saysMore ? "" : message.what() + ": ") + because);
    }
    Optional<BackendFailure.Refusal> best =
        refusals.stream()
            .filter(each -> !(each.failure() instanceof BackendFailure.NeverFits))
            .findFirst()
            .or(
                () ->
                    refusals.stream()
                        .filter(
                            each ->
                                each.failure() instanceof BackendFailure.NeverFits(_, _, var works)
                                    && !fits(works).isEmpty())
                        .findFirst())
            .or(() -> refusals.stream().findFirst());
    return new Message(
        isForEver ? "no backend can ever grant this" : "no backend can grant this now",
        Phrase.capped(reasons),
        best.map(each -> whole.of(each.failure()).remedy()).orElse("gpush backends"));
  }

  /** Of what would work: only options of up, not commands that show more. */
  private static List<String> fits(List<String> works) {
    return works.stream().filter(work -> work.startsWith("--")).toList();
  }

  Message agent(AgentFailure failure) {
    return switch (failure) {
      case AgentFailure.NoPython(var tried) ->
          Message.of(
              "a node has no Python that the agent can use",
              tried.isEmpty()
                  ? "none was found, or none works"
                  : "none of these could be used: " + and(tried),
              "install Python 3.6 or newer there (python3)");
      case AgentFailure.OldPython(var found) ->
          Message.of(
              "a node's Python is too old for the agent",
              "it is " + found + ", and the agent needs 3.6 or newer",
              "install Python 3.6 or newer there (python3)");
      case AgentFailure.CannotWrite(var path, var reason) ->
          Message.of("a node cannot write " + path, reason, "df -h " + Clean.word(path));
      case AgentFailure.Held(var what, var holder) ->
          Message.of(what + " is not free", "held by " + holder, "gpush doctor");
      case AgentFailure.Superseded(var holder, _) ->
          Message.of(
              "another gateway holds these nodes",
              holder + " has attached to them; " + commands.of("up") + " takes them over",
              commands.of("up"));
      case AgentFailure.OtherBuild(var node) ->
          Message.of(
              "the agent of node " + node + " is of another build of gpush",
              "that build started it, and what runs there goes on",
              "use that build, or " + commands.of("down") + ", which ends it");
      case AgentFailure.NotThere(var gang, var node) ->
          Message.of(
              "node " + node + " has no agent",
              "the agent of gang " + gang + " has ended, or was never started there",
              "gpush doctor");
      case AgentFailure.Died(var detail) ->
          Message.of("a node's agent ended", detail, "gpush doctor");
      case AgentFailure.NotUnderstood(var detail, var noise) ->
          Message.of(
              "a node sent something that no agent sends",
              detail + (noise.isEmpty() ? "" : "; before that it sent: " + noise),
              "gpush doctor");
      case AgentFailure.Refused(var what, var code, var facts) ->
          Message.of(
              "a node refused " + what,
              AgentCode.clause(code) + AgentCode.inParentheses(facts),
              commands.of("nodes"));
      case AgentFailure.Slow(var node, var why) ->
          Message.of("node " + node + " was not waited for", "it " + why, commands.of("nodes"));
      case AgentFailure.LinkOver(var node, var reason) ->
          Message.of("the link to node " + node + " ended", reason, commands.of("nodes"));
    };
  }

  /** Of one path its name, of many what stands for all. */
  private String keeping(List<SyncFailure.HeldPath> paths) {
    String which = paths.size() == 1 ? Clean.word(paths.getFirst().path()) : ".";
    return commands.of("sync --keep laptop " + which)
        + " sends what is here; "
        + commands.of("sync --keep node " + which)
        + " takes what is there; the other version goes to a trash";
  }

  Message sync(SyncFailure failure) {
    return switch (failure) {
      case SyncFailure.Held(var paths) ->
          new Message(
              paths.size() == 1
                  ? paths.getFirst().path() + " is held: both versions stay where they are"
                  : paths.size() + " files are held: all versions stay where they are",
              Phrase.capped(paths.stream().map(held -> held.path() + ": " + held.why()).toList()),
              keeping(paths));
      case SyncFailure.NotHeld(var paths) ->
          Message.of(
              "nothing was decided about "
                  + and(
                      paths.stream().map(path -> path.isEmpty() ? "the workspace" : path).toList()),
              "no path there is held; everything else was sent",
              commands.of("sync status"));
      case SyncFailure.TooMuch(var root, var why, var files, var bytes, var instead) ->
          Message.of(
              root + " is not copied without asking",
              why
                  + (files == 0
                      ? ""
                      : ": " + Phrase.count(files) + " files, " + Phrase.size(bytes)),
              instead + ", or " + typed.with("--yes") + ", which sends it");
      case SyncFailure.TooManyFiles(var root, var most) ->
          Message.of(
              root + " cannot be copied to nodes",
              "it has more than " + Phrase.count(most) + " files",
              "echo PATTERN >> " + Clean.word(root + "/.gpushignore") + ", then " + typed.again());
      case SyncFailure.TooLarge(var node, var path, var where, var why) ->
          Message.of(
              "cannot pull " + path + " from node " + node,
              why,
              commands.of(
                  List.of("cp", node + ":" + where, path.substring(path.lastIndexOf('/') + 1))));
      case SyncFailure.KeptChanging(var attempts, var node, var path) ->
          Message.of(
              "the workspace could not be synced",
              "files changed during each of "
                  + attempts
                  + " attempts, the last time "
                  + (path.isEmpty() ? "" : path + " ")
                  + "on node "
                  + node,
              "stop what writes to them, then " + typed.again());
      case SyncFailure.Unreadable(var path, var reason) ->
          Message.of(
              "cannot read " + path,
              reason,
              "ls -l " + Clean.word(path) + (reason.equals(NOT_PERMITTED) ? PRIVACY : ""));
      case SyncFailure.NodeCannotWrite(var node, var code, var path, var detail) ->
          Message.of(
              "node " + node + " cannot write " + path,
              AgentCode.clause(code) + (detail.isEmpty() ? "" : ": " + detail),
              // Its session may be given back already, so a command on the node would not help.
              switch (code) {
                case "no-space" -> "free some space there, then " + typed.again();
                case "read-only", "denied" -> "make it writable there, then " + typed.again();
                default -> typed.again();
              });
      case SyncFailure.NoSuchPath(var node, var path) ->
          Message.of(
              "node " + node + " has no " + path,
              "nothing in its workspace has that name",
              commands.of("exec --on " + node + " ls"));
      case SyncFailure.NotPulled(var node, var path, var why) ->
          Message.of(
              "cannot pull " + path + " from node " + node,
              why,
              commands.of(List.of("exec", "--on", "" + node, "ls", "-la", path)));
      case SyncFailure.InTheWay(var path, var what) ->
          Message.of(
              "cannot write " + path,
              what,
              "move that out of the workspace, then " + typed.again());
      case SyncFailure.NotWritten(var path, var reason) ->
          Message.of("cannot write " + path, reason, Clean.command(List.of("ls", "-la", path)));
      case SyncFailure.BadNames(var paths, var rule) ->
          Message.of(
              paths.size() == 1
                  ? "a file cannot be sent under its name"
                  : "files cannot be sent under their names",
              rule + (paths.isEmpty() ? "" : ": " + and(paths)),
              paths.isEmpty()
                  ? commands.of("sync")
                  : Clean.command(List.of("mv", paths.getFirst(), paths.getFirst() + ".renamed")));
    };
  }

  Message launch(LaunchFailure failure) {
    return switch (failure) {
      case LaunchFailure.NoSuchScript(var script, var folder, var nearest) ->
          Message.of(
              "there is no script "
                  + Phrase.quoted(script)
                  + (nearest.isEmpty() ? "" : "; did you mean " + or(nearest) + "?"),
              folder + " has no such file",
              nearest.isEmpty()
                  ? "ls " + Clean.word(folder)
                  : typed
                      .replaced(script, nearest.getFirst())
                      .orElse(commands.of(List.of("run", nearest.getFirst()))));
      case LaunchFailure.ScriptIgnored(var script, var pattern) ->
          Message.of(
              script + " is here, but is not sent to the nodes",
              "it is ignored by " + pattern,
              "echo " + Clean.word("!" + script) + " >> .gpushignore");
      case LaunchFailure.NothingToRepeat(var session) ->
          Message.of(
              "there is no run to repeat", session + " has had none", commands.of("run train.py"));
      case LaunchFailure.NoGeneration(var session, var generation, var known) ->
          Message.of(
              session + " has had no run on G" + generation,
              known.isEmpty()
                  ? "it has had none"
                  : "its runs were on " + and(known.stream().map(each -> "G" + each).toList()),
              "gpush runs -s " + session);
      case LaunchFailure.NoFreeSlots(var asked, var runs) ->
          Message.of(
              "not enough is free for this run, which asks for " + asked,
              runs.isEmpty()
                  ? "all of it is claimed"
                  : "claimed by "
                      + and(runs)
                      + "; "
                      + commands.of("stop " + runs.getFirst().replaceFirst("^run ", ""))
                      + " frees it, --queue waits for it",
              typed.with("--queue"));
      case LaunchFailure.BadSlots(var asked, var rule) ->
          Message.of("no run can claim " + Phrase.quoted(asked), rule, commands.of("nodes"));
      case LaunchFailure.NoPython(var node, var tried) ->
          Message.of(
              "node " + node + " has no Python for this run",
              tried.isEmpty() ? "none was found" : "none of these exists: " + and(tried),
              commands.of("exec --on " + node + " 'ls -d /usr/bin/python3* .venv/bin/python'"));
      case LaunchFailure.BrokenPython(var node, var python, var reason) ->
          Message.of(
              python + " on node " + node + " does not work",
              reason,
              commands.of(List.of("exec", "--on", "" + node, "--", python, "--version")));
      case LaunchFailure.NoEnvironment(var node, var what, var because) ->
          Message.of(
              Clean.line(what) + " cannot be used on node " + node,
              Clean.line(because),
              commands.of("exec -t --on " + node + " -- bash -l"));
      case LaunchFailure.SetupFailed(var node, var command, var status, var said, var log) ->
          Message.of(
              "setup failed on node " + node + ": " + Clean.line(command),
              "exit status "
                  + status
                  + (said.isEmpty() ? ", without output" : ": " + Clean.line(said)),
              commands.of(List.of("exec", "--on", "" + node, "--", "cat", log)));
      case LaunchFailure.NoJupyter(var node, var program, var said) ->
          said.isEmpty()
              ? Message.of(
                  "no Jupyter server was started on node " + node,
                  "the session's environment there has no " + program,
                  commands.of("exec --on " + node + " -- python -m pip install jupyterlab"))
              : Message.of(
                  "no Jupyter server was started on node " + node,
                  program + " ended: " + Clean.line(said),
                  commands.of("exec --on " + node + " -- " + program));
      case LaunchFailure.NoTorch(var python, var others) ->
          Message.of(
              "this run needs torch, and " + python + " does not have it",
              others.isEmpty() ? "no other Python there has it either" : "it is in " + or(others),
              others.isEmpty()
                  ? commands.of(
                      List.of("exec", "--all", "--", python, "-m", "pip", "install", "torch"))
                  : typed.with("--python", others.getFirst()));
      case LaunchFailure.NoPackage(var python, var name) ->
          Message.of(
              "this run needs " + name + ", and " + python + " does not have it",
              "the launcher is that of the Python of the run",
              commands.of(List.of("exec", "--all", "--", python, "-m", "pip", "install", name)));
      case LaunchFailure.NoSnapshot(var node, var generation, var path) ->
          Message.of(
              "node " + node + " cannot give the run the files of G" + generation,
              path.isEmpty()
                  ? "it does not have them: nodes keep those with which runs began, the newest"
                      + " longest, up to 1 GiB, and a node that was replaced has none of before"
                  : Phrase.quoted(path)
                      + " has changed there since it was sent, and nodes keep no file of more than"
                      + " 16 MiB, and none while their disk is nearly full",
              commands.of("run")
                  + ", which takes the present files; "
                  + commands.of("runs")
                  + " names the generations of all runs");
      case LaunchFailure.NodesDiffer(var what, var values) ->
          new Message(
              "the nodes differ in " + what,
              values.isEmpty() ? List.of("a run needs them to be the same") : Phrase.capped(values),
              commands.of("exec --all -- python3 -m pip freeze"));
      case LaunchFailure.UnknownRun(var session, var run, var known) ->
          Message.of(
              session + " has no run " + Phrase.quoted(run),
              known.isEmpty() ? "it has had none" : "it has " + and(known),
              "gpush runs -s " + session);
      case LaunchFailure.Refused(var node, var code, var detail) ->
          Message.of(
              "node " + node + " did not start the run",
              AgentCode.clause(code) + (detail.isEmpty() ? "" : ": " + detail),
              commands.of("nodes"));
      case LaunchFailure.NoFabric(var troubles) ->
          new Message(
              "no run can start on these nodes",
              troubles.stream().map(each -> each.what() + ": " + each.cost()).toList(),
              troubles.stream()
                  .map(LaunchFailure.Trouble::remedy)
                  .filter(remedy -> !remedy.isEmpty())
                  .findFirst()
                  .orElse(commands.of("check --plan")));
      case LaunchFailure.Lost(var run, var node) ->
          Message.of(
              "run " + run + " was lost on node " + node,
              "its part there ended without a result",
              commands.of("logs " + run));
      case LaunchFailure.CutOutput(var run, var node) ->
          Message.of(
              "the output of run " + run + " on node " + node + " is not complete",
              "the node cannot read the rest",
              commands.of("exec --on " + node + " -- df -h"));
    };
  }
}
