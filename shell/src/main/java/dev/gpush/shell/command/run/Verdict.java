package dev.gpush.shell.command.run;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunFailure.Frame;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SendReason;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.text.Clean;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.render.UnsentPath;
import dev.gpush.shell.text.Look;
import dev.gpush.shell.text.Prose;
import dev.gpush.shell.text.RunFailureText;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Says of a run that failed which rank was first, where, and why. */
final class Verdict {
  private Verdict() {}

  static void write(Call call, RunView run) {
    run.failure().ifPresent(failure -> write(call, run, failure));
  }

  /** Of a run that has just ended. */
  static void write(Call call, SessionName session, int run) {
    write(call, call.services().runs().find(session, Optional.of(run)));
  }

  private static void write(Call call, RunView run, RunFailure failure) {
    Look look = call.console().look();
    call.console().freshLine();
    call.console().write(true, new RunFailureText(failure).bytes(look));
    unsent(call, run).ifPresent(path -> write(call, look, path));
  }

  private static void write(Call call, Look look, UnsentPath path) {
    var lines = new ArrayList<>(Prose.lines("  ", path.line(), look.errorColumns()));
    remedy(call, path).ifPresent(remedy -> lines.add("  try: " + remedy));
    String text = String.join("\n", lines) + "\n";
    call.console().write(true, text.getBytes(StandardCharsets.UTF_8));
  }

  /** What sends this path with the next run, as it is typed where this was called. */
  static Optional<String> remedy(Call call, UnsentPath path) {
    String mark = call.isInShell() ? "!" : "";
    return path.remedy(call.folder()).map(command -> mark + command);
  }

  /** What the rank that failed first did not find, because it is not sent. */
  static Optional<UnsentPath> unsent(Call call, RunView run) {
    List<String> names = run.failure().map(UnsentPath::named).orElse(List.of());
    if (names.isEmpty()) {
      return Optional.empty();
    }
    try {
      SessionView session =
          call.services().sessions().choose(Optional.of(run.session()), call.folder());
      return names.stream()
          .flatMap(name -> looked(call, session, run, name))
          .map(reason -> whole(call, session.root(), reason))
          .flatMap(reason -> UnsentPath.of(reason, session.root()).stream())
          .findFirst();
    } catch (GpushException | InvalidPathException notKnown) {
      return Optional.empty();
    }
  }

  /** The name as of the user's folder, of the root, and of the folder of the code that failed. */
  private static Stream<SendReason> looked(
      Call call, SessionView session, RunView run, String name) {
    Path root = session.root();
    Stream<Path> paths =
        name.startsWith("/") ? workspacePaths(session, name) : relative(call, root, run, name);
    return paths
        .map(Path::normalize)
        .filter(path -> path.startsWith(root))
        .map(path -> call.services().rules().explain(root, path.toString()));
  }

  private static Stream<Path> workspacePaths(SessionView session, String name) {
    return session.nodes().stream()
        .map(node -> node.info().workspace() + "/")
        .filter(name::startsWith)
        .map(workspace -> name.substring(workspace.length()))
        .distinct()
        .map(session.root()::resolve);
  }

  private static Stream<Path> relative(Call call, Path root, RunView run, String name) {
    String code = run.failure().flatMap(RunFailure::frame).map(Frame::file).orElse("");
    Path beside = root.resolve(Clean.line(code)).getParent();
    return Stream.of(call.folder(), root, beside == null ? root : beside)
        .filter(folder -> folder.startsWith(root))
        .distinct()
        .map(folder -> folder.resolve(name));
  }

  private static SendReason whole(Call call, Path root, SendReason reason) {
    return UnsentPath.folder(reason)
        .map(folder -> call.services().rules().explain(root, folder))
        .orElse(reason);
  }
}
