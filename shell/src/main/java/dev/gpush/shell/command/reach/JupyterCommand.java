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
    var at = new JupyterServer(call, session, call.node(session, on));
    return stop ? stop(at) : open(at);
  }

  private int open(JupyterServer at) throws InterruptedException {
    Call call = at.call();
    JupyterServer.Running server;
    try (Talk.Step _ = call.talk().step("starting Jupyter on node " + at.node())) {
      server = server(at);
    }
    PortForward forward =
        call.services()
            .sessions()
            .forward(
                at.session().name(),
                new PortTarget(Optional.of(at.node()), server.port()),
                Optional.empty())
            .getFirst();
    String address = address(server, forward.local());
    if (call.common().json) {
      call.print(
          Json.object(
              "url", address,
              "node", at.node(),
              "port", server.port(),
              "local", forward.local(),
              "token", server.token()));
      return 0;
    }
    call.print(address + "\n");
    Optional<Path> opener = print ? Optional.empty() : Programs.opener(call);
    return opener.isEmpty()
        ? 0
        : call.invocation().spawn(List.of(opener.get().toString(), address), Map.of());
  }

  private JupyterServer.Running server(JupyterServer at) throws InterruptedException {
    List<String> kinds = kind.map(List::of).orElse(KINDS);
    if (gpus.isPresent()) {
      GpuRequest wanted = GpuRequest.parse(gpus.get());
      if (wanted.isNone()) {
        throw Values.bad("jupyter", "--gpus claims at least one; without it, nothing is claimed");
      }
      return NotebookRun.start(at, wanted, kinds).server();
    }
    Optional<NotebookRun> there = NotebookRun.on(at);
    return there.isPresent() ? there.get().server() : at.start(kinds);
  }

  private String address(JupyterServer.Running server, int port) {
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

  private static int stop(JupyterServer at) throws InterruptedException {
    Optional<NotebookRun> run = NotebookRun.on(at);
    Optional<JupyterServer.Running> stopped = run.isPresent() ? at.find() : at.stop();
    if (run.isEmpty() && stopped.isEmpty()) {
      at.call().say("no Jupyter server that gpush started runs on node " + at.node());
      return 0;
    }
    stopped.ifPresent(server -> unforward(at, server));
    String freed = run.isPresent() ? freed(run.get()) : "";
    at.call()
        .say("the Jupyter server of node " + at.node() + " is stopped, with its kernels" + freed);
    return 0;
  }

  private static String freed(NotebookRun run) throws InterruptedException {
    RunView ended = run.stop();
    return ended.isOver()
        ? "; "
            + String.join(", ", ended.slots())
            + (ended.slots().size() == 1 ? " is" : " are")
            + " free"
        : "; node " + run.at().node() + " has not said yet that run " + ended.number() + " ended";
  }

  private static void unforward(JupyterServer at, JupyterServer.Running server) {
    Sessions sessions = at.call().services().sessions();
    for (PortForward forward : sessions.forwards(at.session().name())) {
      if (forward.node() == at.node() && forward.port() == server.port()) {
        sessions.unforward(at.session().name(), forward.local());
      }
    }
  }
}
