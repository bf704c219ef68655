package dev.gpush.shell.command.reach;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.PortForward;
import dev.gpush.core.session.PortTarget;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.talk.Talk;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "jupyter",
    header = "Open a notebook on a node",
    description = {
      "Finds the Jupyter server of node 0, or starts the one that your Python there has, forwards"
          + " its port, prints its address and opens it in your browser (not with --json). Kernels"
          + " see the session's environment and GPUs; with --gpus, only those that it claims, and"
          + " runs get the others. It runs until --stop or the end of the session; an idle kernel"
          + " does not keep the nodes."
    },
    footer = {"$ gpush jupyter --print", "http://localhost:8888/?token=51a0f3"})
public final class JupyterCommand implements Action {
  public static final List<String> KINDS = List.of("lab", "notebook", "server");

  @Parameters(
      arity = "0..1",
      paramLabel = "KIND",
      description = "lab, notebook or server; none: the first that is there")
  Optional<String> kind;

  @Option(names = "--on", paramLabel = "NODE", description = "this node, not node 0")
  Optional<String> on;

  @Option(
      names = "--gpus",
      paramLabel = "GPUS",
      description = "claim this many there; --stop frees them")
  Optional<String> gpus;

  @Option(names = "--print", description = "print the address; open nothing")
  boolean print;

  @Option(names = "--stop", description = "stop the server and its kernels")
  boolean stop;

  @Override
  public int run(Call call) throws InterruptedException {
    kind.ifPresent(word -> Values.oneOf("jupyter", "KIND", word, KINDS));
    SessionView session = call.session();
    int node = call.node(session, on);
    return stop ? stop(call, session, node) : open(call, session, node);
  }

  private int open(Call call, SessionView session, int node) throws InterruptedException {
    JupyterServer server;
    try (Talk.Step _ = call.talk().step("starting Jupyter on node " + node)) {
      server = server(call, session, node);
    }
    PortForward forward =
        call.services()
            .sessions()
            .forward(
                session.name(), new PortTarget(Optional.of(node), server.port()), Optional.empty())
            .getFirst();
    String address = address(server, forward.local());
    if (call.common().json) {
      call.print(
          Json.object(
              "url",
              address,
              "node",
              node,
              "port",
              server.port(),
              "local",
              forward.local(),
              "token",
              server.token()));
      return 0;
    }
    call.print(address + "\n");
    Optional<Path> opener = print ? Optional.empty() : Programs.opener(call);
    return opener.isEmpty()
        ? 0
        : call.invocation().spawn(List.of(opener.get().toString(), address), Map.of());
  }

  private JupyterServer server(Call call, SessionView session, int node)
      throws InterruptedException {
    List<String> kinds = kind.map(List::of).orElse(KINDS);
    if (gpus.isPresent()) {
      GpuRequest wanted = GpuRequest.parse(gpus.get());
      if (wanted.isNone()) {
        throw Values.bad("jupyter", "--gpus claims at least one; without it, nothing is claimed");
      }
      return NotebookRun.start(call, session, node, wanted, kinds).server(call);
    }
    Optional<NotebookRun> there = NotebookRun.on(call, session, node);
    return there.isPresent()
        ? there.get().server(call)
        : JupyterServer.on(call, session, node, kinds);
  }

  private String address(JupyterServer server, int port) {
    // Without a page the server itself shows the one that it was started for.
    String page = kind.map(JupyterCommand::page).orElse("");
    return "http://localhost:" + port + server.url() + page + "?token=" + server.token();
  }

  private static String page(String kind) {
    return switch (kind) {
      case "lab" -> "lab";
      case "notebook" -> "tree";
      default -> "";
    };
  }

  private static int stop(Call call, SessionView session, int node) throws InterruptedException {
    Optional<NotebookRun> run = NotebookRun.on(call, session, node);
    Optional<JupyterServer> stopped =
        run.isPresent()
            ? JupyterServer.find(call, session, node)
            : JupyterServer.stop(call, session, node);
    if (run.isEmpty() && stopped.isEmpty()) {
      call.say("no Jupyter server that gpush started runs on node " + node);
      return 0;
    }
    stopped.ifPresent(server -> unforward(call, session, server));
    call.say(
        "the Jupyter server of node " + node + " is stopped, with its kernels" + free(call, run));
    return 0;
  }

  private static String free(Call call, Optional<NotebookRun> run) throws InterruptedException {
    if (run.isEmpty()) {
      return "";
    }
    RunView ended = run.get().stop(call);
    return ended.isOver()
        ? "; "
            + String.join(", ", ended.slots())
            + (ended.slots().size() == 1 ? " is" : " are")
            + " free"
        : "; node " + run.get().node() + " has not said yet that run " + ended.number() + " ended";
  }

  private static void unforward(Call call, SessionView session, JupyterServer server) {
    Sessions sessions = call.services().sessions();
    for (PortForward forward : sessions.forwards(session.name())) {
      if (forward.node() == server.node() && forward.port() == server.port()) {
        sessions.unforward(session.name(), forward.local());
      }
    }
  }
}
