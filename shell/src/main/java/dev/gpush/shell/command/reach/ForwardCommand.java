package dev.gpush.shell.command.reach;

import dev.gpush.core.json.Json;
import dev.gpush.core.session.PortForward;
import dev.gpush.core.session.PortTarget;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.talk.Talk;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.render.Documents;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "forward",
    header = "Reach ports of the nodes on this machine",
    description = {
      "A port of node 0 (8888), of another node (1:8888) or of every node (all:6006) gets a port on"
          + " this machine's loopback: the same number if it is free. It stays until the session"
          + " ends, also while the connection is cut or the gateway starts again. Without a PORT:"
          + " what is forwarded. ports: in gpush.yaml forwards them at every gpush up."
    },
    footer = {"$ gpush forward 8888", "http://localhost:8888 is port 8888 of node 0"})
public final class ForwardCommand implements Action {
  private static final int LAST_PORT = 65_535;

  @Parameters(arity = "0..*", paramLabel = "PORT", description = "ports of nodes")
  List<String> ports = new ArrayList<>();

  @Option(names = "--local", paramLabel = "PORT", description = "this port here, not a free one")
  Optional<String> local;

  @Option(names = "--remove", description = "end these; each PORT is one of this machine")
  boolean remove;

  @Override
  public int run(Call call) throws InterruptedException {
    if (remove && local.isPresent()) {
      throw Values.bad("forward", "--remove and --local cannot be used together");
    }
    if (local.isPresent() && ports.size() != 1) {
      throw Values.bad("forward", "--local is for one port of one node");
    }
    SessionView session = call.session();
    if (remove) {
      return remove(call, session.name());
    }
    Sessions sessions = call.services().sessions();
    var shown = new ArrayList<PortForward>();
    try (Talk.Step _ = call.talk().step("reaching the nodes")) {
      for (PortTarget target : targets(session)) {
        shown.addAll(sessions.forward(session.name(), target, here()));
      }
    }
    show(call, session, ports.isEmpty() ? sessions.forwards(session.name()) : shown);
    return 0;
  }

  private Optional<Integer> here() {
    return local.map(text -> Values.number("--local", text, 1, LAST_PORT));
  }

  private List<PortTarget> targets(SessionView session) {
    List<PortTarget> targets = ports.stream().map(text -> PortTarget.parse("PORT", text)).toList();
    boolean isForAll = targets.stream().anyMatch(target -> target.node().isEmpty());
    if (local.isPresent() && isForAll && session.size() > 1) {
      throw Values.bad("forward", "--local is for one port of one node");
    }
    return targets;
  }

  private int remove(Call call, SessionName name) {
    if (ports.isEmpty()) {
      throw Values.bad("forward", "--remove needs the PORT of this machine");
    }
    var removed = new ArrayList<PortForward>();
    for (String text : ports) {
      int port = Values.number("PORT", text, 1, LAST_PORT);
      Optional<PortForward> known = call.services().sessions().unforward(name, port);
      if (known.isEmpty()) {
        throw Values.bad("forward", "no port " + port + " of this machine is forwarded");
      }
      removed.add(known.get());
    }
    if (call.common().json) {
      print(call, removed);
    } else {
      removed.forEach(each -> call.say("port " + each.local() + " is no longer forwarded"));
    }
    return 0;
  }

  private void show(Call call, SessionView session, List<PortForward> forwards) {
    if (call.common().json) {
      print(call, forwards);
    } else if (forwards.isEmpty()) {
      call.say("no port of " + session.name() + " is forwarded");
    } else {
      forwards.forEach(each -> call.print(line(each) + "\n"));
    }
  }

  private static void print(Call call, List<PortForward> forwards) {
    call.print(Json.array(forwards.stream().map(Documents::forward).toList()));
  }

  /** {@code http://localhost:8888 is port 8888 of node 0}. */
  public static String line(PortForward forward) {
    return "http://localhost:"
        + forward.local()
        + " is port "
        + forward.port()
        + " of node "
        + forward.node()
        + forward.problem().map(why -> ", but does not work: " + why).orElse("");
  }
}
