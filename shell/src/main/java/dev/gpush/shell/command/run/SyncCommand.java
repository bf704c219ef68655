package dev.gpush.shell.command.run;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.session.SendReason;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.session.Sessions.KeepRequest;
import dev.gpush.core.session.SyncView;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.render.Documents;
import dev.gpush.shell.render.Previews;
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
          + " {mode: manual}. status says what the nodes have, what is on its way to them or from"
          + " node 0, what is held, which nodes are behind, and why; pause stops sending saves"
          + " until resume; now, or nothing, sends everything and asks what saves alone do not"
          + " ask. --explain needs no session.",
      "A path that was changed here and on node 0, but differently, is held: both versions stay,"
          + " and run does not start. --keep laptop PATH sends what is here, --keep node PATH takes"
          + " what is there; the other version goes to a trash that status names. With sync:"
          + " {edit: 1} in gpush.yaml, node 1 is meant wherever this page says node 0."
    },
    footer = {
      "$ gpush sync",
      "devbox has G43 on all nodes",
      "$ gpush sync status",
      "devbox is synced: all nodes have G43",
      "$ gpush sync --explain data/train.bin",
      "data/train.bin is not sent: *.bin (.gitignore:2) ignores it",
      "$ gpush sync --keep node model.py",
      "edited on node 0, and now here as well: model.py",
      "devbox has G44 on all nodes"
    })
public final class SyncCommand implements Action {
  public static final List<String> ACTIONS = List.of("status", "pause", "resume", "now");
  public static final List<String> SIDES = List.of("laptop", "node");
  private static final String NOW = "now";

  @Parameters(
      arity = "0..*",
      paramLabel = "WHAT",
      description = "status, pause, resume or now; with --keep, paths")
  List<String> words = List.of();

  @Option(names = "--overwrite", description = "replace files that were changed on the nodes")
  boolean overwrite;

  @Option(
      names = "--keep",
      paramLabel = "SIDE",
      description = "laptop or node: whose version of held paths all get")
  Optional<String> keep = Optional.empty();

  @Option(
      names = "--explain",
      paramLabel = "PATH",
      description = "say why this path is sent or not, and the line that says so")
  Optional<String> explain = Optional.empty();

  @Option(names = "--dry-run", description = "show what now would do; send and bring nothing")
  boolean dryRun;

  @Override
  public int run(Call call) throws InterruptedException {
    if (keep.isPresent()) {
      return keep(call, keep.get());
    }
    if (words.size() > 1) {
      throw Values.bad("sync", "only --keep takes more than one word");
    }
    String what = words.isEmpty() ? NOW : Values.oneOf("sync", "WHAT", words.getFirst(), ACTIONS);
    if ((overwrite || dryRun) && !what.equals(NOW)) {
      throw Values.bad("sync", (dryRun ? "--dry-run" : "--overwrite") + " is for gpush sync now");
    }
    if (explain.isPresent()) {
      return explain(call, explain.get());
    }
    Sessions sessions = call.services().sessions();
    SessionView session = call.session();
    return switch (what) {
      case "status" -> show(call, session, sessions.syncState(session.name()));
      case "pause" -> show(call, session, sessions.pauseSync(session.name()));
      case "resume" -> show(call, session, sessions.resumeSync(session.name()));
      default -> dryRun ? look(call, session) : now(call, session);
    };
  }

  private int now(Call call, SessionView session) throws InterruptedException {
    return synced(
        call, session, call.services().sessions().sync(session.name(), overwrite, call.talk()));
  }

  private int look(Call call, SessionView session) throws InterruptedException {
    SyncView.Preview preview =
        call.services().sessions().previewSync(session.name(), overwrite, call.talk());
    if (call.common().json) {
      call.print(Previews.json(session, preview));
    } else {
      call.print(
          session.name()
              + (preview.isNothing() ? " has everything; nothing would be sent" : " would change")
              + "\n");
      Previews.lines(preview, call.zone()).forEach(line -> call.print(line + "\n"));
    }
    requireNoneHeld(preview);
    return 0;
  }

  /** As the sync itself fails; what is printed goes before it. */
  static void requireNoneHeld(SyncView.Preview preview) {
    if (!preview.held().isEmpty()) {
      throw new GpushException(new SyncFailure.Held(preview.held()));
    }
  }

  private int keep(Call call, String side) throws InterruptedException {
    if (overwrite || dryRun || explain.isPresent()) {
      throw Values.bad("sync", "--keep goes with none of --overwrite, --dry-run and --explain");
    }
    Values.oneOf("sync", "--keep", side, SIDES);
    if (words.isEmpty()) {
      throw Values.bad("sync", "--keep needs the paths that it decides about, or . for all");
    }
    SessionView session = call.session();
    var request =
        new KeepRequest(
            side.equals("laptop") ? KeepRequest.Side.LAPTOP : KeepRequest.Side.NODE,
            words.stream().map(path -> call.insideWorkspace(session, path)).toList());
    return synced(
        call, session, call.services().sessions().keep(session.name(), request, call.talk()));
  }

  private int synced(Call call, SessionView session, long generation) {
    if (call.common().json) {
      call.print(Documents.synced(session, generation));
    }
    call.say(session.name() + " has G" + generation + " on all nodes");
    return 0;
  }

  private int explain(Call call, String path) {
    if (overwrite || dryRun || !words.isEmpty()) {
      throw Values.bad(
          "sync", "--explain is for a path alone, without --overwrite, --dry-run and WHAT");
    }
    SendReason reason = call.services().rules().explain(call.folder(), path);
    if (call.common().json) {
      call.print(Documents.explained(reason));
    } else {
      Path root = call.services().configs().load(call.folder()).root();
      call.print(new SendText(reason, call.shortened(root)).line() + "\n");
    }
    return 0;
  }

  private int show(Call call, SessionView session, SyncView state) {
    if (call.common().json) {
      call.print(Documents.sync(session, state));
    } else {
      var text = new SyncText(state);
      call.print(session.name() + " " + text.headline() + "\n");
      text.details(call.zone(), call.commands()).forEach(line -> call.print("  " + line + "\n"));
    }
    return 0;
  }
}
