package dev.gpush.shell.command.run;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Talk;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.render.Documents;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "pull",
    header = "Fetch a file of the workspace from a node",
    description = {
      "The node's copy replaces the local one. PATH is relative to your folder in the workspace."
    },
    footer = {"$ gpush pull --on 1 notes.txt", "pulled notes.txt from node 1"})
public final class PullCommand implements Action {
  @Parameters(paramLabel = "PATH", description = "the file")
  String path;

  @Option(
      names = "--on",
      paramLabel = "NODE",
      description = "from this node, not the one where people edit")
  Optional<String> on;

  @Override
  public int run(Call call) throws InterruptedException {
    SessionView session = call.session();
    int node =
        on.isPresent()
            ? Values.number("--on", on.get(), 0, Integer.MAX_VALUE)
            : editNode(call, session);
    if (node >= session.nodes().size()) {
      throw new GpushException(
          new SessionFailure.UnknownNode(session.name().text(), node, session.nodes().size()));
    }
    String inside = inWorkspace(call, session);
    call.services().sessions().pull(session.name(), node, inside, call.talk());
    if (call.common().json) {
      call.print(Documents.pulled(session, node, inside));
    }
    call.say("pulled " + path + " from node " + node);
    return 0;
  }

  private static int editNode(Call call, SessionView session) throws InterruptedException {
    try (Talk.Step _ = call.talk().step("asking the nodes where people edit")) {
      return call.services().sessions().editNode(session.name());
    }
  }

  private String inWorkspace(Call call, SessionView session) {
    Path root = session.root();
    Path from = call.folder().startsWith(root) ? call.folder() : root;
    try {
      Path file = from.resolve(path).normalize();
      if (file.startsWith(root) && !file.equals(root)) {
        return root.relativize(file).toString();
      }
    } catch (InvalidPathException invalid) {
      throw new GpushException(new UsageFailure.BadValue("PATH", path, "a file name"), invalid);
    }
    throw new GpushException(
        new UsageFailure.BadValue("PATH", path, "a file inside the workspace " + root));
  }
}
