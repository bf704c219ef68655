package dev.gpush.backends.ssh;

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
import dev.gpush.core.machine.Machine;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.DurationText;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;

/**
 * The agents on a machine: starts them, lists them, asks them. An agent's {@code request} says what
 * it is ({@code info}) and that this kind of backend made it, so nothing needs to be kept here.
 */
final class HostAgents {
  /** The system's own Python first: the agent needs any, and shims of version managers are slow. */
  static final List<String> INTERPRETERS = List.of("/usr/bin/python3", "python3", "python");

  private static final String KIND = "ssh";

  /** A control question takes a login and milliseconds; an agent that does not answer hangs. */
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(40);

  /** Stops runs with a grace time, then lets go of files. */
  private static final Duration RELEASE_LIMIT = Duration.ofMinutes(5);

  private final AgentProgram agent;
  private final String lockFolder;
  private final Tasks tasks;

  HostAgents(AgentProgram agent, String lockFolder, Tasks tasks) {
    this.agent = agent;
    this.lockFolder = lockFolder;
    this.tasks = tasks;
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
                        lockFolder + "/" + slot.lock(),
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
    ask(machine, header("start", request.gang(), info.index(), "start", start));
  }

  /**
   * What everything on a node gets over what its login shell sets. A node sees the GPUs that it
   * holds and no others, a CPU node none. PCI order makes CUDA count as nvidia-smi does.
   */
  private static Map<String, String> variables(GangRequest request, NodeInfo info) {
    var variables = new TreeMap<>(request.environment());
    variables.put("CUDA_VISIBLE_DEVICES", info.hasGpus() ? String.join(",", info.slots()) : "");
    if (info.hasGpus()) {
      variables.put("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    }
    return variables;
  }

  /** One that holds nothing, where an agent was killed: so that it can be asked to release. */
  void restart(Machine machine, Gang gang, NodeInfo info) throws IOException {
    ask(machine, header("start", gang.id(), info.index(), "start", AgentStart.again(gang, info)));
  }

  /** The status of each agent there that this kind of backend has started. */
  List<Json> list(Machine machine) throws IOException {
    return ask(machine, Json.object("mode", "list")).items("agents").stream()
        .filter(status -> status.object("request").text("kind").orElse("").equals(KIND))
        .toList();
  }

  /** Those of one gang. */
  List<Json> of(Machine machine, GangId gang) throws IOException {
    var mine = new ArrayList<Json>();
    for (Json status : list(machine)) {
      if (status.text("gang").orElse("").equals(gang.text())) {
        mine.add(status);
      }
    }
    return mine;
  }

  static NodeInfo info(Json status) {
    return NodeInfo.from(status.object("request").object("info"));
  }

  /** Asks one agent; throws with NotThere when there is none. */
  Json control(Machine machine, GangId gang, int node, Json.Obj what) throws InterruptedException {
    Duration limit = what.text("do").orElse("").equals("release") ? RELEASE_LIMIT : ANSWER_LIMIT;
    Json.Obj header = header("control", gang, node, "control", what);
    try {
      return tasks.within(limit, "control-" + node, () -> ask(machine, header));
    } catch (IOException broken) {
      throw new GpushException(died(node, String.valueOf(broken.getMessage())), broken);
    } catch (TimeoutException hangs) {
      String detail = "no answer for " + DurationText.of(limit);
      throw new GpushException(died(node, detail), hangs);
    }
  }

  private static AgentFailure.Died died(int node, String detail) {
    return new AgentFailure.Died("node " + node + ": " + detail);
  }

  private static Json.Obj header(String mode, GangId gang, int node, String key, Json.Obj value) {
    return Json.object("mode", mode, "gang", gang.text(), "node", node, key, value);
  }

  private Json ask(Machine machine, Json.Obj header) throws IOException {
    try (Pipe pipe = machine.spawn(agent.arguments(INTERPRETERS))) {
      return agent.ask(pipe, header);
    }
  }
}
