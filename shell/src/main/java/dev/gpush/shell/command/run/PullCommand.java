package dev.gpush.shell.command.run;

import dev.gpush.core.session.SessionView;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.render.Documents;
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
    int node = call.editNode(session, on);
    String inside = call.insideWorkspace(session, path);
    if (inside.isEmpty()) {
      throw Values.bad("pull", "it fetches a file, not the whole workspace");
    }
    call.services().sessions().pull(session.name(), node, inside, call.talk());
    if (call.common().json) {
      call.print(Documents.pulled(session, node, inside));
    }
    call.say("pulled " + path + " from node " + node);
    return 0;
  }
}
