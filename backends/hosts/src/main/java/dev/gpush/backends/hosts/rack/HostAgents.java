package dev.gpush.backends.hosts.rack;

import dev.gpush.backends.hosts.rack.HostChoice.Seat;
import dev.gpush.backends.remote.AgentAnswer;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.gang.AgentStart;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.gang.PeerSecret;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;

/**
 * The agents on the hosts of a rack: starts them, lists them, asks them. An agent's {@code request}
 * says what it is ({@code info}) and which kind of backend made it, so nothing needs to be kept
 * here.
 */
public final class HostAgents {
  /** Stops runs with a grace time, then lets go of files. */
  private static final Duration RELEASE_LIMIT = Duration.ofMinutes(5);

  /** A control question takes milliseconds; an agent that does not answer hangs. */
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(20);

  /** Behind ssh it may take a login before. */
  private static final Duration REMOTE_ANSWER_LIMIT = Duration.ofSeconds(40);

  private static final System.Logger LOG = System.getLogger("gpush.backends");

  private final AgentProgram agent;
  private final Rack rack;
  private final Tasks tasks;

  public HostAgents(AgentProgram agent, Rack rack, Tasks tasks) {
    this.agent = agent;
    this.rack = rack;
    this.tasks = tasks;
  }

  /** Starts the agent of one node, or finds it if it runs already. */
  public void start(GangRequest request, Seat seat, NodeInfo info, PeerSecret secret)
      throws IOException {
    Host host = seat.survey().host();
    host.prepare(info);
    List<Json.Obj> locks =
        seat.slots().stream()
            .map(
                slot ->
                    Json.object(
                        "path",
                        rack.locks() + "/" + slot.lock(),
                        "label",
                        slot.isGpu() ? "gpu " + slot.index() : "room"))
            .toList();
    Json.Obj kept = Json.object("kind", rack.kind(), "nodes", request.nodes(), "info", info.json());
    Json.Obj start =
        within(host, AgentStart.of(request, info), variables(request, info))
            .with("locks", locks)
            .with("guard", true)
            .with("hold_only", true)
            .with("request", kept);
    if (request.nodes() > 1) {
      start = start.with("peers", peers(secret));
    }
    start(host, request.gang(), info.index(), start);
  }

  /** What the agents of a gang are told of each other. */
  Json.Obj peers(PeerSecret secret) {
    return switch (rack.shape()) {
      case Rack.Shape.OneMachine _ -> secret.onSameHost();
      case Rack.Shape.HostPerNode _ -> secret.onHosts();
    };
  }

  /** What everything on a node starts from: all of it, or what is put over its login shell's. */
  private static Json.Obj within(Host host, Json.Obj start, Map<String, String> over) {
    Optional<Host.Known> known = host.known();
    if (known.isEmpty()) {
      return start.with("env_over", over);
    }
    var whole = new TreeMap<>(known.get().environment());
    whole.putAll(over);
    return start.with("env", whole);
  }

  private static Map<String, String> variables(GangRequest request, NodeInfo info) {
    var variables = new TreeMap<>(request.environment());
    variables.putAll(visibleGpus(info));
    return variables;
  }

  /**
   * The variables by which a node sees the GPUs that it holds and no others, and a CPU node none.
   * PCI order makes CUDA count as nvidia-smi does; its own order is fastest first.
   */
  private static Map<String, String> visibleGpus(NodeInfo info) {
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

  /**
   * Starts one that holds nothing, where an agent was killed: so that it can be asked to release.
   */
  void restart(Gang gang, NodeInfo info) throws IOException {
    Host host = rack.hostOf(info);
    Json.Obj start = AgentStart.again(gang, info);
    Optional<Host.Known> known = host.known();
    if (known.isPresent()) {
      start = start.with("env", known.get().environment());
    }
    start(host, gang.id(), info.index(), start);
  }

  private void start(Host host, GangId gang, int node, Json.Obj start) throws IOException {
    ask(host, header("start", gang, node).with("start", start));
  }

  /**
   * What one host said.
   *
   * @param statuses of each agent there that this kind of backend has started for this home
   * @param silent why it did not answer
   */
  public record Listed(Host host, List<Json> statuses, Optional<GpushException> silent) {
    /** Those of one gang. */
    public List<Json> of(GangId gang) {
      return statuses.stream()
          .filter(status -> status.text("gang").orElse("").equals(gang.text()))
          .toList();
    }
  }

  /** Asks each of these hosts for its agents; one that does not answer fails none of the others. */
  public List<Listed> listed(List<Host> hosts) throws InterruptedException {
    return tasks.each("list-agents", hosts, this::listed);
  }

  /** The same; one that has not answered in time did not answer. */
  List<Listed> listedInTime(List<Host> hosts) throws InterruptedException {
    return tasks.each("list-agents", hosts, this::listedInTime);
  }

  private Listed listedInTime(Host host) throws InterruptedException {
    Duration limit = answerLimit();
    try {
      return tasks.within(limit, "list-" + host.name(), () -> listed(host));
    } catch (TimeoutException hangs) {
      String reason = host.name() + ": no answer for " + DurationText.of(limit);
      return silent(host, reason, hangs);
    }
  }

  private Listed silent(Host host, String reason, Exception cause) {
    var silent = new BackendFailure.Unavailable(rack.name(), reason, "gpush doctor");
    return new Listed(host, List.of(), Optional.of(new GpushException(silent, cause)));
  }

  private Listed listed(Host host) {
    try {
      List<Json> ours =
          ask(host, Json.object("mode", "list")).items("agents").stream()
              .filter(status -> isOurs(host, status))
              .toList();
      return new Listed(host, ours, Optional.empty());
    } catch (IOException | IllegalArgumentException broken) {
      return silent(host, host.name() + ": " + broken.getMessage(), broken);
    } catch (GpushException silent) {
      return new Listed(host, List.of(), Optional.of(silent));
    }
  }

  /** On this machine another GPUSH_HOME of the same user is another world. */
  private boolean isOurs(Host host, Json status) {
    String folder = host.known().map(known -> known.folder() + "/").orElse("");
    try {
      return status.object("request").text("kind").orElse("").equals(rack.kind())
          && info(status).workspace().startsWith(folder);
    } catch (IllegalArgumentException other) {
      LOG.log(
          System.Logger.Level.WARNING,
          "an agent is left out, host=" + host.name() + ": " + other.getMessage());
      return false; // Of another version; the others are there.
    }
  }

  /** What an agent's request says about its node. */
  public static NodeInfo info(Json status) {
    return NodeInfo.from(status.object("request").object("info"));
  }

  /** What each node of a gang says. */
  Map<Integer, AgentAnswer> ask(Gang gang, Json.Obj what) throws InterruptedException {
    List<AgentAnswer> said =
        tasks.each("ask-agents", gang.nodes(), node -> answer(gang.id(), node, what));
    var answers = new TreeMap<Integer, AgentAnswer>();
    for (int i = 0; i < said.size(); i++) {
      answers.put(gang.nodes().get(i).index(), said.get(i));
    }
    return answers;
  }

  private AgentAnswer answer(GangId gang, NodeInfo node, Json.Obj what)
      throws InterruptedException {
    try {
      return new AgentAnswer.Said(ask(gang, node, what));
    } catch (GpushException failed) {
      return failed.failure() instanceof AgentFailure.NotThere
          ? new AgentAnswer.NoAgent()
          : new AgentAnswer.Silent(FailureWords.of(failed));
    } catch (IOException broken) {
      return new AgentAnswer.Silent(String.valueOf(broken.getMessage()));
    }
  }

  /**
   * Asks one agent.
   *
   * @throws GpushException with {@code NotThere} when there is none, and with {@code Died}, which
   *     names the node, once it has taken too long
   */
  public Json control(GangId gang, NodeInfo node, Json.Obj what) throws InterruptedException {
    try {
      return ask(gang, node, what);
    } catch (IOException broken) {
      String detail = "node " + node.index() + ": " + broken.getMessage();
      throw new GpushException(new AgentFailure.Died(detail), broken);
    }
  }

  private Json ask(GangId gang, NodeInfo node, Json.Obj what)
      throws IOException, InterruptedException {
    Host host = rack.hostOf(node);
    Duration limit = limit(what);
    try {
      return tasks.within(
          limit, "control-" + node.index(), () -> ask(host, gang, node.index(), what));
    } catch (TimeoutException hangs) {
      throw new IOException("no answer for " + DurationText.of(limit), hangs);
    }
  }

  private Duration limit(Json.Obj what) {
    if (what.text("do").orElse("").equals("release")) {
      return RELEASE_LIMIT;
    }
    return answerLimit();
  }

  private Duration answerLimit() {
    return switch (rack.shape()) {
      case Rack.Shape.OneMachine _ -> ANSWER_LIMIT;
      case Rack.Shape.HostPerNode _ -> REMOTE_ANSWER_LIMIT;
    };
  }

  /** By the loader, which knows more, if the host has no shorter way. */
  private Json ask(Host host, GangId gang, int node, Json.Obj what) throws IOException {
    Optional<Json> answer = host.ask(gang, node, what);
    return answer.isPresent()
        ? answer.get()
        : ask(host, header("control", gang, node).with("control", what));
  }

  private static Json.Obj header(String mode, GangId gang, int node) {
    return Json.object("mode", mode, "gang", gang.text(), "node", node);
  }

  private Json ask(Host host, Json.Obj header) throws IOException {
    try (Pipe pipe = host.machine().spawn(agent.arguments(Rack.INTERPRETERS))) {
      return agent.ask(pipe, host.keepingCompiled(header));
    }
  }
}
