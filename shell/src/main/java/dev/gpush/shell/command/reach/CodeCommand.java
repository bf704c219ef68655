package dev.gpush.shell.command.reach;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.SshAccess;
import dev.gpush.core.text.ShellQuote;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "code",
    header = "Open your editor on a node",
    description = {
      "Opens VS Code, or the editor of the option, in your folder of the workspace over ssh: on"
          + " node 0, or on the node of sync.edit in gpush.yaml. The folder's path there is the"
          + " same in every session of this name, so the editor remembers its windows. Asks for"
          + " gpush link first, which editors need."
    },
    footer = {
      "$ gpush code --print",
      "code --remote ssh-remote+devbox /home/ann/gpush/devbox/proj"
    })
public final class CodeCommand implements Action {
  @Parameters(
      arity = "0..1",
      paramLabel = "PATH",
      description = "a folder or file of the workspace; an absolute path is the node's")
  Optional<String> path;

  @Option(names = "--cursor", description = "Cursor")
  boolean cursor;

  @Option(names = "--windsurf", description = "Windsurf")
  boolean windsurf;

  @Option(names = "--zed", description = "Zed")
  boolean zed;

  @Option(names = "--jetbrains", description = "JetBrains Gateway or Toolbox")
  boolean jetbrains;

  @Option(
      names = "--on",
      paramLabel = "NODE",
      description = "this node, not the one where people edit")
  Optional<String> on;

  @Option(names = "--print", description = "show the command; open nothing")
  boolean print;

  @Override
  public boolean hasJson() {
    return false;
  }

  @Override
  public int run(Call call) throws InterruptedException {
    Editor editor = editor();
    SessionView session = call.session();
    int node = call.editNode(session, on);
    String host = session.name() + (node == 0 ? "" : "-" + node);
    if (print) {
      call.print(ShellQuote.join(editor.line(host, folder(call, session, node))) + "\n");
      return 0;
    }
    Optional<Path> program =
        editor.programs().stream()
            .flatMap(name -> Programs.find(call.environment(), name).stream())
            .findFirst();
    Optional<Path> opener = Programs.opener(call);
    if (program.isEmpty() && opener.isEmpty()) {
      throw new GpushException(new UsageFailure.NoEditor(editor.title(), editor.program()));
    }
    SshAccess ssh = call.services().gateway().ssh();
    if (!ssh.isLinked()) {
      ssh.link(call.talk());
    }
    String folder = folder(call, session, node);
    var line = new ArrayList<String>();
    if (program.isPresent()) {
      line.addAll(editor.line(host, folder));
      line.set(0, program.get().toString());
    } else {
      // An editor without a program on the PATH has registered its links with the desktop.
      line.addAll(List.of(opener.orElseThrow().toString(), editor.link(host, folder)));
    }
    return call.invocation().spawn(line, Map.of());
  }

  private Editor editor() {
    List<Editor> chosen =
        Stream.of(
                cursor ? Optional.of(Editor.CURSOR) : Optional.<Editor>empty(),
                windsurf ? Optional.of(Editor.WINDSURF) : Optional.<Editor>empty(),
                zed ? Optional.of(Editor.ZED) : Optional.<Editor>empty(),
                jetbrains ? Optional.of(Editor.JETBRAINS) : Optional.<Editor>empty())
            .flatMap(Optional::stream)
            .toList();
    if (chosen.size() > 1) {
      throw Values.bad("code", "it opens one editor; name one");
    }
    return chosen.isEmpty() ? Editor.CODE : chosen.getFirst();
  }

  /** Where the user stands in the workspace, or the place that was named from there. */
  private String folder(Call call, SessionView session, int node) throws InterruptedException {
    if (path.isPresent() && path.get().startsWith("/")) {
      return path.get();
    }
    Path here = call.folder().resolve(path.orElse("")).normalize();
    Path root = session.root();
    if (!here.startsWith(root)) {
      if (path.isPresent()) {
        throw Values.bad("code", path.get() + " is outside " + call.shortened(root));
      }
      here = root;
    }
    String place = call.services().sessions().place(session.name(), node);
    String inside = root.relativize(here).toString();
    return inside.isEmpty() ? place : place + "/" + inside;
  }
}
