package dev.gpush.backends.hosts;

import dev.gpush.core.agent.AgentProgram;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.DurationText;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;

/** Starts, lists and asks agents through the loader on their machine. */
public final class AgentCalls {
  /** The system's own Python first: the agent needs any, and shims of version managers are slow. */
  public static final List<String> INTERPRETERS = List.of("/usr/bin/python3", "python3", "python");

  /** Stops runs with a grace time, then lets go of files. */
  private static final Duration RELEASE_LIMIT = Duration.ofMinutes(5);

  private final AgentProgram agent;
  private final Duration answerLimit;
  private final Tasks tasks;

  /**
   * For machines that are equally far away.
   *
   * @param answerLimit of all questions but a release; an agent that takes longer hangs
   */
  public AgentCalls(AgentProgram agent, Duration answerLimit, Tasks tasks) {
    this.agent = agent;
    this.answerLimit = answerLimit;
    this.tasks = tasks;
  }

  /** One question to one agent. */
  @FunctionalInterface
  public interface Question {
    Json ask() throws IOException;
  }

  /** Starts the agent of one node, or finds it if it runs already. */
  public void start(Machine machine, GangId gang, int node, Json.Obj start) throws IOException {
    ask(machine, header("start", gang, node).with("start", start));
  }

  /** The status of each agent of this user there. */
  public List<Json> list(Machine machine) throws IOException {
    return ask(machine, Json.object("mode", "list")).items("agents");
  }

  /** Asks one agent; throws with {@code NotThere} when there is none. */
  public Json control(Machine machine, GangId gang, int node, Json.Obj what) throws IOException {
    return ask(machine, header("control", gang, node).with("control", what));
  }

  /** The answer of an agent, or a failure that names its node once it has taken too long. */
  public Json inTime(int node, Json.Obj what, Question question) throws InterruptedException {
    Duration limit = what.text("do").orElse("").equals("release") ? RELEASE_LIMIT : answerLimit;
    try {
      return tasks.within(limit, "control-" + node, question::ask);
    } catch (IOException broken) {
      String detail = "node " + node + ": " + broken.getMessage();
      throw new GpushException(new AgentFailure.Died(detail), broken);
    } catch (TimeoutException hangs) {
      String detail = "node " + node + " has not answered for " + DurationText.of(limit);
      throw new GpushException(new AgentFailure.Died(detail), hangs);
    }
  }

  private static Json.Obj header(String mode, GangId gang, int node) {
    return Json.object("mode", mode, "gang", gang.text(), "node", node);
  }

  private Json ask(Machine machine, Json.Obj header) throws IOException {
    try (Pipe pipe = machine.spawn(agent.arguments(INTERPRETERS))) {
      return agent.ask(pipe, header);
    }
  }

  /** Those of one gang. */
  public static List<Json> ofGang(List<Json> statuses, GangId gang) {
    return statuses.stream()
        .filter(status -> status.text("gang").orElse("").equals(gang.text()))
        .toList();
  }

  /** What an agent's request says about its node. */
  public static NodeInfo info(Json status) {
    return NodeInfo.from(status.object("request").object("info"));
  }

  /**
   * The variables by which a node sees the GPUs that it holds and no others, and a CPU node none.
   * PCI order makes CUDA count as nvidia-smi does; its own order is fastest first.
   */
  public static Map<String, String> visibleGpus(NodeInfo info) {
    var variables = new TreeMap<String, String>();
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
