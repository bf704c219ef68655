package dev.gpush.backends.local;

import dev.gpush.backends.hosts.AgentCalls;
import dev.gpush.backends.hosts.NodeAgents;
import dev.gpush.core.agent.AgentProgram;
import dev.gpush.core.agent.AgentStart;
import dev.gpush.core.agent.PeerSecret;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The agents of this machine that belong to this GPUSH_HOME: starts them, lists them, asks them. An
 * agent's {@code request} says what it is ({@code info}) and which GPUs it holds, so nothing needs
 * to be kept here.
 */
final class LocalAgents implements NodeAgents {
  /** A control question takes milliseconds; an agent that does not answer hangs. */
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(20);

  private final LocalHost host;
  private final AgentCalls calls;

  LocalAgents(LocalHost host, AgentProgram agent, Tasks tasks) {
    this.host = host;
    this.calls = new AgentCalls(agent, ANSWER_LIMIT, tasks);
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
    calls.start(host.machine(environment(request.inherit())), request.gang(), info.index(), start);
  }

  @Override
  public void restart(Gang gang, NodeInfo info) throws IOException {
    Json.Obj start = AgentStart.again(gang, info).with("env", environment(Map.of()));
    calls.start(loader(), gang.id(), info.index(), start);
  }

  /**
   * The status of each agent of this home: another GPUSH_HOME of the same user is another world.
   */
  List<Json> list() throws IOException {
    String home = host.home().resolve("nodes").toString() + "/";
    return calls.list(loader()).stream()
        .filter(status -> AgentCalls.info(status).workspace().startsWith(home))
        .toList();
  }

  /** The agents of one gang by node. */
  Map<Integer, Json> of(GangId gang) throws IOException {
    var nodes = new TreeMap<Integer, Json>();
    AgentCalls.ofGang(list(), gang)
        .forEach(status -> nodes.put(AgentCalls.info(status).index(), status));
    return nodes;
  }

  /** At its socket, which takes a millisecond; by the loader, which knows more, if that fails. */
  @Override
  public Json control(GangId gang, NodeInfo node, Json.Obj what) throws InterruptedException {
    return calls.inTime(node.index(), what, () -> ask(gang, node.index(), what));
  }

  private Json ask(GangId gang, int node, Json.Obj what) throws IOException {
    Optional<Json> answer = NodeSocket.of(gang, node).ask(what);
    return answer.isPresent() ? answer.orElseThrow() : calls.control(loader(), gang, node, what);
  }

  /** This machine with the gateway's own paths. */
  private Machine loader() {
    return host.machine(environment(Map.of()));
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

  /** What everything on a node starts from. */
  private Map<String, String> variables(GangRequest request, NodeInfo info) {
    var variables = new TreeMap<>(environment(request.inherit()));
    variables.putAll(request.environment());
    variables.putAll(AgentCalls.visibleGpus(info));
    return variables;
  }
}
