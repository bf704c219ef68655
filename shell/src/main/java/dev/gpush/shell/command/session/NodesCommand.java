package dev.gpush.shell.command.session;

import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.NodeView;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.text.Clean;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.render.Documents;
import dev.gpush.shell.render.Table;
import picocli.CommandLine.Command;

@Command(
    name = "nodes",
    header = "Show the hardware, runs and code of each node",
    description = {
      "SLOTS are what runs can claim, GPUs where there are any, and how many are claimed. CODE is"
          + " the generation of your workspace that the node holds, ACTIVITY what runs, or how long"
          + " it has been idle."
    },
    footer = {
      "$ gpush nodes",
      "NODE  HOST  ADDRESS    SLOTS    CPUS  LINK  CODE  ACTIVITY  WORKSPACE",
      "0     lab1  127.0.0.1  1/4 cpu  8     up    G42   run 7     ~/w/0/proj",
      "1     lab1  127.0.0.1  0/4 cpu  8     up    G42   idle 40m  ~/w/1/proj"
    })
public final class NodesCommand implements Action {
  @Override
  public int run(Call call) {
    SessionView session = call.session();
    if (call.common().json) {
      call.print(Json.array(session.nodes().stream().map(Documents::node).toList()));
      return 0;
    }
    Table table =
        new Table(
            "NODE", "HOST", "ADDRESS", "SLOTS", "CPUS", "LINK", "CODE", "ACTIVITY", "WORKSPACE");
    for (NodeView node : session.nodes()) {
      NodeInfo info = node.info();
      table.row(
          "" + info.index(),
          info.host(),
          info.address(),
          node.claimed()
              + "/"
              + info.slots().size()
              + " "
              + (info.hasGpus() ? info.gpuModel() : "cpu"),
          "" + info.cpus(),
          node.link(),
          code(node),
          Clean.line(node.activity()),
          info.workspace());
    }
    call.print(table);
    long hosts = session.nodes().stream().map(node -> node.info().host()).distinct().count();
    if (session.nodes().size() > 1 && hosts == 1) {
      call.say("all nodes are one machine and share its ports, home and /tmp");
    }
    if (!session.work().python().isEmpty()) {
      call.say("python: " + session.work().python());
    }
    return 0;
  }

  private static String code(NodeView node) {
    return node.generation().map(held -> held == 0 ? "" : "G" + held).orElse("?");
  }
}
