package dev.gpush.shell.command.run;

import dev.gpush.core.session.SessionView;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.render.Documents;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "sync",
    header = "Bring the workspace to all nodes now",
    description = {"up and run do this by themselves."},
    footer = {"$ gpush sync", "devbox has G43 on all nodes"})
public final class SyncCommand implements Action {
  @Option(names = "--overwrite", description = "replace files that were changed on the nodes")
  boolean overwrite;

  @Option(names = "--json", description = "what the nodes have now, as JSON")
  boolean json;

  @Override
  public int run(Call call) throws InterruptedException {
    SessionView session = call.session();
    long generation = call.services().sessions().sync(session.name(), overwrite, call.talk());
    if (json) {
      call.print(Documents.synced(session, generation));
    }
    call.say(session.name() + " has G" + generation + " on all nodes");
    return 0;
  }
}
