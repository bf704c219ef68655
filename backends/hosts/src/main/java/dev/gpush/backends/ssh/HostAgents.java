package dev.gpush.backends.ssh;

import dev.gpush.backends.hosts.AgentCalls;
import dev.gpush.backends.hosts.NodeAgents;
import dev.gpush.core.agent.AgentProgram;
import dev.gpush.core.agent.AgentStart;
import dev.gpush.core.agent.PeerSecret;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The agents on a machine: starts them, lists them, asks them. An agent's {@code request} says what
 * it is ({@code info}) and that this kind of backend made it, so nothing needs to be kept here.
 */
final class HostAgents implements NodeAgents {
  private static final String KIND = "ssh";

  /** A control question takes a login and milliseconds; an agent that does not answer hangs. */
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(40);

  private final AgentCalls calls;
  private final SshPlace place;

  HostAgents(AgentProgram agent, SshPlace place, Tasks tasks) {
    this.calls = new AgentCalls(agent, ANSWER_LIMIT, tasks);
    this.place = place;
  }

  /** Starts the agent of one node, or finds it if it runs already. */
  void start(
      Machine machine,
      GangRequest request,
      NodeInfo info,
      List<Survey.Slot> slots,
      Optional<PeerSecret> secret)
      throws IOException {
    List<Json.Obj> locks =
        slots.stream()
            .map(
                slot ->
                    Json.object(
                        "path",
                        place.locks() + "/" + slot.lock(),
                        "label",
                        slot.isGpu() ? "gpu " + slot.index() : "room"))
            .toList();
    Json.Obj start =
        AgentStart.of(request, info)
            .with("locks", locks)
            .with("env_over", variables(request, info))
            .with("hold_only", true)
            .with(
                "request",
                Json.object("kind", KIND, "nodes", request.nodes(), "info", info.json()));
    if (secret.isPresent()) {
      start = start.with("peers", secret.get().onHosts());
    }
    calls.start(machine, request.gang(), info.index(), start);
  }

  /** What everything on a node gets over what its login shell sets. */
  private static Map<String, String> variables(GangRequest request, NodeInfo info) {
    var variables = new TreeMap<>(request.environment());
    variables.putAll(AgentCalls.visibleGpus(info));
    return variables;
  }

  @Override
  public void restart(Gang gang, NodeInfo info) throws IOException {
    calls.start(
        place.hostOf(info).machine(), gang.id(), info.index(), AgentStart.again(gang, info));
  }

  /** The status of each agent there that this kind of backend has started. */
  List<Json> list(Machine machine) throws IOException {
    return calls.list(machine).stream()
        .filter(status -> status.object("request").text("kind").orElse("").equals(KIND))
        .toList();
  }

  /** Those of one gang. */
  List<Json> of(Machine machine, GangId gang) throws IOException {
    return AgentCalls.ofGang(list(machine), gang);
  }

  @Override
  public Json control(GangId gang, NodeInfo node, Json.Obj what) throws InterruptedException {
    Machine machine = place.hostOf(node).machine();
    return calls.inTime(node.index(), what, () -> calls.control(machine, gang, node.index(), what));
  }
}
