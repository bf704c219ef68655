package dev.gpush.shell.command.session;

import dev.gpush.core.failure.Failure;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions.Ending;
import dev.gpush.core.session.Sessions.GivenBack;
import dev.gpush.core.text.Clean;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.render.Documents;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "down",
    header = "Give a session's nodes back",
    description = {
      "Ends its runs, removes what gpush wrote and releases the nodes; returns when that is"
          + " confirmed. It asks before it ends runs (--yes answers that), and before files are"
          + " lost that exist only on the nodes (only --discard answers that). It always asks"
          + " before it takes a session of another folder that you did not name."
    },
    footer = {"$ gpush down devbox", "devbox is given back"})
public final class DownCommand implements Action {
  @Parameters(paramLabel = "NAME", arity = "0..1", description = "the session, as with -s")
  public Optional<String> name;

  @Option(
      names = "--discard",
      description = "also what exists only on the nodes, and runs in progress")
  boolean discard;

  @Option(names = "--dry-run", description = "show what would end and be lost; end nothing")
  boolean dryRun;

  @Override
  public int run(Call call) throws InterruptedException {
    if (name.isPresent() && call.common().session.isPresent()) {
      throw Values.bad("down", "the session is named twice");
    }
    if (dryRun) {
      return look(call, call.session(name.or(call::named)));
    }
    SessionView session = call.sessionToEnd(name, "give back");
    GivenBack end = down(call, session.name(), discard);
    if (call.common().json) {
      call.print(Documents.givenBack(session, end));
    }
    return 0;
  }

  private int look(Call call, SessionView session) throws InterruptedException {
    Ending end = call.services().sessions().ending(session.name(), call.talk());
    if (call.common().json) {
      call.print(Documents.ending(session, end));
      return 0;
    }
    call.print(
        session.name()
            + (session.state().isWaiting() ? " would no longer wait for " : " would give back ")
            + session.shape()
            + " on "
            + session.backend()
            + "\n");
    end.running().forEach(run -> call.print("  would stop " + Clean.line(run.words()) + "\n"));
    end.lost().ifPresent(lost -> call.print("  would ask first: " + Clean.line(lost) + "\n"));
    return 0;
  }

  public static GivenBack down(Call call, SessionName session, boolean discard)
      throws InterruptedException {
    GivenBack end = call.services().sessions().down(session, discard, call.talk());
    sayGivenBack(call, session, end);
    return end;
  }

  public static void sayGivenBack(Call call, SessionName session, GivenBack end) {
    call.say(session + " is given back");
    end.kept().forEach(path -> call.say("kept, because gpush did not make it: " + path));
  }

  /**
   * Says that a command did not give the session back.
   *
   * @param how "stays"
   */
  public static void sayStays(Call call, SessionName session, String how) {
    call.say(session + " " + how + "; " + call.commands().of("down") + " gives it back");
  }

  /** Writes why it was not given back; the command has another result. */
  public static void writeKept(Call call, SessionName session, Failure failure) {
    call.write(failure, List.of("down", "-s", session.text()));
  }
}
