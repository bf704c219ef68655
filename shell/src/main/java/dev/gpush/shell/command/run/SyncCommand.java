package dev.gpush.shell.command.run;

import dev.gpush.core.session.SendReason;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.session.SyncView;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.render.Documents;
import dev.gpush.shell.render.SendText;
import dev.gpush.shell.render.SyncText;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "sync",
    header = "Bring the workspace to all nodes now",
    description = {
      "up and run do this by themselves, and so does each save, unless gpush.yaml has sync:"
          + " {mode: manual}. status says what the nodes have, what is not there yet and why; pause"
          + " stops sending saves until resume; now, or nothing, sends everything and asks what"
          + " saves alone do not ask. --explain needs no session."
    },
    footer = {
      "$ gpush sync",
      "devbox has G43 on all nodes",
      "$ gpush sync status",
      "devbox is synced: all nodes have G43",
      "$ gpush sync --explain data/train.bin",
      "data/train.bin is not sent: *.bin (.gitignore:2) ignores it"
    })
public final class SyncCommand implements Action {
  public static final List<String> ACTIONS = List.of("status", "pause", "resume", "now");

  @Parameters(arity = "0..1", paramLabel = "WHAT", description = "status, pause, resume or now")
  String what = "now";

  @Option(names = "--overwrite", description = "replace files that were changed on the nodes")
  boolean overwrite;

  @Option(
      names = "--explain",
      paramLabel = "PATH",
      description = "say why this path is sent or not, and the line that says so")
  Optional<String> explain = Optional.empty();

  @Option(names = "--json", description = "what the nodes have now, as JSON")
  boolean json;

  @Override
  public int run(Call call) throws InterruptedException {
    if (overwrite && !what.equals("now")) {
      throw Values.bad("sync", "--overwrite is for gpush sync now");
    }
    if (explain.isPresent()) {
      return explain(call, explain.get());
    }
    Sessions sessions = call.services().sessions();
    return switch (what) {
      case "now" -> now(call, call.session());
      case "status" -> {
        SessionView session = call.session();
        yield show(call, session, sessions.syncState(session.name()));
      }
      case "pause" -> {
        SessionView session = call.session();
        yield show(call, session, sessions.pauseSync(session.name()));
      }
      case "resume" -> {
        SessionView session = call.session();
        yield show(call, session, sessions.resumeSync(session.name()));
      }
      default -> throw Values.bad("sync", "WHAT must be status, pause, resume or now, not " + what);
    };
  }

  private int now(Call call, SessionView session) throws InterruptedException {
    long generation = call.services().sessions().sync(session.name(), overwrite, call.talk());
    if (json) {
      call.print(Documents.synced(session, generation));
    }
    call.say(session.name() + " has G" + generation + " on all nodes");
    return 0;
  }

  private int explain(Call call, String path) {
    if (overwrite || !what.equals("now")) {
      throw Values.bad("sync", "--explain is for a path alone, without --overwrite and WHAT");
    }
    SendReason reason = call.services().rules().explain(call.folder(), path);
    if (json) {
      call.print(Documents.explained(reason));
    } else {
      Path root = call.services().configs().load(call.folder()).root();
      call.print(new SendText(reason, call.shortened(root)).line() + "\n");
    }
    return 0;
  }

  private int show(Call call, SessionView session, SyncView state) {
    if (json) {
      call.print(Documents.sync(session, state));
    } else {
      new SyncText(session.name(), state).lines().forEach(line -> call.print(line + "\n"));
    }
    return 0;
  }
}
