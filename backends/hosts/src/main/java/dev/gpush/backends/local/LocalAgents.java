package dev.gpush.backends.local;

import dev.gpush.core.agent.AgentProgram;
import dev.gpush.core.agent.AgentStart;
import dev.gpush.core.agent.PeerSecret;
import dev.gpush.core.backend.Gang;
import dev.gpush.core.backend.GangId;
import dev.gpush.core.backend.GangRequest;
import dev.gpush.core.backend.NodeInfo;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.DurationText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;

/**
 * The agents of this machine that belong to this GPUSH_HOME: starts them, lists them, asks them. An
 * agent's {@code request} says what it is ({@code info}) and which GPUs it holds, so nothing needs
 * to be kept here.
 */
final class LocalAgents {
  /** The system's own Python first: the agent needs any, and shims of version managers are slow. */
  static final List<String> INTERPRETERS = List.of("/usr/bin/python3", "python3", "python");

  /** A control question takes milliseconds; an agent that does not answer hangs. */
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(20);

  /** Stops runs with a grace time, then lets go of files. */
  private static final Duration RELEASE_LIMIT = Duration.ofMinutes(5);

  private final LocalHost host;
  private final AgentProgram agent;
  private final Tasks tasks;

  LocalAgents(LocalHost host, AgentProgram agent, Tasks tasks) {
    this.host = host;
    this.agent = agent;
    this.tasks = tasks;
  }

  /** A lock that a node's agent is to hold. */
  record Lock(Path file, Gpu gpu) {}

  /** Starts the agent of one node, or finds it if it runs already. */
  void start(GangRequest request, NodeInfo info, List<Lock> locks, PeerSecret secret)
      throws IOException {
    try {
      Files.createDirectories(host.home().resolve("nodes"));
      Files.createDirectories(parent(info));
    } catch (IOException failed) {
      String reason = failed.getClass().getSimpleName() + " " + failed.getMessage();
      throw new GpushException(new AgentFailure.CannotWrite(info.workspace(), reason), failed);
    }
    Json.Obj kept =
        Json.object(
            "nodes", request.nodes(),
            "info", info.json(),
            "gpus", locks.stream().map(lock -> lock.gpu().identity()).toList());
    List<Json.Obj> held =
        locks.stream()
            .map(
                lock ->
                    Json.object(
                        "path", lock.file().toString(), "label", "gpu " + lock.gpu().index()))
            .toList();
    Json.Obj start =
        AgentStart.of(request, info)
            .with("locks", held)
            .with("env", variables(request, info))
            .with("peers", secret.onSameHost())
            .with("hold_only", true)
            .with("request", kept);
    ask(
        environment(request.inherit()),
        header("start", request.gang(), info.index(), "start", start));
  }

  /**
   * One that holds nothing, for a node whose agent was killed: so that it can be asked to release.
   */
  void restart(Gang gang, NodeInfo info) throws IOException {
    Json.Obj start = AgentStart.again(gang, info).with("env", environment(Map.of()));
    ask(environment(Map.of()), header("start", gang.id(), info.index(), "start", start));
  }

  /**
   * The status of each agent of this home: another GPUSH_HOME of the same user is another world.
   */
  List<Json> list() throws IOException {
    Json answer = ask(environment(Map.of()), Json.object("mode", "list"));
    String home = host.home().resolve("nodes").toString() + "/";
    return answer.items("agents").stream()
        .filter(status -> info(status).workspace().startsWith(home))
        .toList();
  }

  /** The agents of one gang by node. */
  Map<Integer, Json> of(GangId gang) throws IOException {
    var nodes = new TreeMap<Integer, Json>();
    for (Json status : list()) {
      if (status.text("gang").orElse("").equals(gang.text())) {
        nodes.put(info(status).index(), status);
      }
    }
    return nodes;
  }

  static NodeInfo info(Json status) {
    return NodeInfo.from(status.object("request").object("info"));
  }

  /** Identities of the GPUs that an agent holds. */
  static List<String> gpus(Json status) {
    return status.object("request").texts("gpus");
  }

  /** Asks one agent; throws with NotThere when there is none. */
  Json control(GangId gang, int node, Json.Obj what) throws InterruptedException {
    Duration limit = what.text("do").orElse("").equals("release") ? RELEASE_LIMIT : ANSWER_LIMIT;
    try {
      return tasks.within(limit, "control-" + node, () -> ask(gang, node, what));
    } catch (IOException broken) {
      String detail = "node " + node + ": " + broken.getMessage();
      throw new GpushException(new AgentFailure.Died(detail), broken);
    } catch (TimeoutException hangs) {
      String detail = "node " + node + " has not answered for " + DurationText.of(limit);
      throw new GpushException(new AgentFailure.Died(detail), hangs);
    }
  }

  /** At its socket, which takes a millisecond; by the loader, which knows more, if that fails. */
  private Json ask(GangId gang, int node, Json.Obj what) throws IOException {
    Optional<Json> answer = NodeSocket.of(gang, node).ask(what);
    return answer.isPresent()
        ? answer.orElseThrow()
        : ask(environment(Map.of()), header("control", gang, node, "control", what));
  }

  private static Json.Obj header(String mode, GangId gang, int node, String key, Json.Obj value) {
    return Json.object("mode", mode, "gang", gang.text(), "node", node, key, value);
  }

  private Json ask(Map<String, String> environment, Json.Obj header) throws IOException {
    try (Pipe pipe = host.spawn(agent.arguments(INTERPRETERS), environment)) {
      return agent.ask(pipe, header);
    }
  }

  static Path parent(NodeInfo info) {
    return Optional.ofNullable(Path.of(info.workspace()).getParent()).orElseThrow();
  }

  /** The gateway's own identity and the client's paths over it. */
  Map<String, String> environment(Map<String, String> inherit) {
    var variables = new TreeMap<String, String>();
    host.environment()
        .forEach(
            (key, value) -> {
              if (LocalVariables.isIdentity(key)) {
                variables.put(key, value);
              }
            });
    variables.putAll(LocalVariables.inherited(inherit));
    variables.putIfAbsent("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    return variables;
  }

  /**
   * What everything on a node starts from. A node sees the GPUs that it holds and no others, a CPU
   * node none. PCI order makes CUDA count as nvidia-smi does; its own order is fastest first.
   */
  private Map<String, String> variables(GangRequest request, NodeInfo info) {
    var variables = new TreeMap<>(environment(request.inherit()));
    variables.putAll(request.environment());
    String visible = info.hasGpus() ? String.join(",", info.slots()) : "";
    variables.put("CUDA_VISIBLE_DEVICES", visible);
    if (info.hasGpus()) {
      variables.put("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    }
    if (info.gpuModel().equals("AMD")) {
      variables.put("HIP_VISIBLE_DEVICES", visible);
    }
    return variables;
  }
}
