package dev.gpush.backends.hosts.rack;

import dev.gpush.backends.hosts.rack.HostAgents.Listed;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Inquiry;
import dev.gpush.core.machine.Inquiry.Answer;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.text.CleanText;
import dev.gpush.core.text.Phrase;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;

/**
 * Gives a gang back: every agent is asked to let go, then everything is checked until it is really
 * gone, the agents and the locks. What gpush did not write stays and is named. A host that cannot
 * be asked may still hold something, and that is reported, unless the gang was never granted and
 * this gateway has started nothing of it there: then an agent is unlikely, and ends by itself.
 */
public final class GangRelease {
  /** An agent answers before it exits; its last milliseconds are not worth more questions. */
  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(50);

  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(40);

  /** A kernel's name of a process has 15 bytes. */
  private static final int MOST_NAME = 80;

  /** Says whether there are files of a node; where not, removes the folder above all gangs too. */
  private static final String HAS_FILES =
      "if test -e \"$1\" || test -e \"$2\"; then echo yes; else rmdir \"$3\" 2>/dev/null; echo no;"
          + " fi";

  /** GANG, NODE and PROJECT below the folder of all gangs. */
  private static final int LEVELS = 3;

  private final Rack rack;
  private final HostAgents agents;
  private final Surveys surveys;
  private final Tasks tasks;

  /** The names of the hosts where agents of a gang were started and not yet released. */
  private final Map<GangId, Set<String>> started = new ConcurrentHashMap<>();

  public GangRelease(Rack rack, HostAgents agents, Surveys surveys, Tasks tasks) {
    this.rack = rack;
    this.agents = agents;
    this.surveys = surveys;
    this.tasks = tasks;
  }

  /** Before an agent is started: from then on that host must say that it has none. */
  void starting(GangId gang, NodeInfo node) {
    started.computeIfAbsent(gang, _ -> ConcurrentHashMap.newKeySet()).add(node.host());
  }

  private boolean mayHave(Host host, GangId gang) {
    return started.getOrDefault(gang, Set.of()).contains(host.name());
  }

  /** The kept paths, each with its node. */
  public List<String> all(Gang gang, Duration limit) throws InterruptedException {
    try {
      return tasks.within(limit, "release-" + gang.id(), () -> release(gang));
    } catch (IOException | RuntimeException failed) {
      throw notReleased(gang, FailureWords.of(failed), failed);
    } catch (TimeoutException hangs) {
      throw notReleased(gang, "it is still there after " + DurationText.of(limit), hangs);
    }
  }

  private GpushException notReleased(Gang gang, String reason, Throwable cause) {
    return new GpushException(
        new BackendFailure.NotReleased(rack.name(), gang.id().text(), reason), cause);
  }

  private List<String> release(Gang gang) throws IOException, InterruptedException {
    List<NodeInfo> nodes = gang.nodes().isEmpty() ? find(gang) : gang.nodes();
    var kept = new ArrayList<String>();
    var left = new ArrayList<String>();
    for (Released node : tasks.each("release", nodes, node -> release(gang, node))) {
      kept.addAll(node.kept());
      left.addAll(node.left());
    }
    if (!left.isEmpty()) {
      throw new IOException("SIGKILL does not end " + String.join(", ", Phrase.capped(left)));
    }
    awaitEnd(gang, nodes);
    Set<String> hosts = started.getOrDefault(gang.id(), new HashSet<>());
    nodes.forEach(node -> hosts.remove(node.host()));
    if (gang.nodes().isEmpty() || hosts.isEmpty()) {
      started.remove(gang.id());
    }
    return List.copyOf(kept);
  }

  /**
   * What is there after the release of a node.
   *
   * @param left processes that wait in the kernel, as for a file server that is away; the agent
   *     stays until they have ended
   */
  private record Released(List<String> kept, List<String> left) {}

  /** The nodes of a gang whose caller knows none, after a lost reply: their agents know. */
  private List<NodeInfo> find(Gang gang) throws InterruptedException {
    List<Host> prompt =
        rack.hosts().stream()
            .filter(host -> !surveys.isLate(host) || mayHave(host, gang.id()))
            .toList();
    List<Listed> lists = agents.listedInTime(prompt.isEmpty() ? rack.hosts() : prompt);
    boolean isOneThere = lists.stream().anyMatch(each -> each.silent().isEmpty());
    var nodes = new ArrayList<NodeInfo>();
    for (Listed each : lists) {
      boolean isPassedOver = isOneThere && !mayHave(each.host(), gang.id());
      // Where no Python can tell, the host may be certain that there never was an agent.
      if (each.silent().isPresent()
          && !isPassedOver
          && !(isWithoutPython(each.silent().get()) && each.host().hasNothingOf(gang.id()))) {
        throw each.silent().get();
      }
      each.of(gang.id()).stream().map(HostAgents::info).forEach(nodes::add);
    }
    return nodes;
  }

  private static boolean isWithoutPython(GpushException failed) {
    return failed.failure() instanceof AgentFailure.NoPython
        || failed.failure() instanceof AgentFailure.OldPython;
  }

  /**
   * Once all agents are gone: a run that outlived its agent may hold a GPU a moment longer, and
   * empty folders of the gang may be left.
   */
  private void awaitEnd(Gang gang, List<NodeInfo> nodes) throws IOException, InterruptedException {
    List<Host> locked =
        nodes.stream().filter(NodeInfo::hasGpus).map(rack::hostOf).distinct().toList();
    tasks.each("locks", locked, host -> awaitLocks(host, gang.id()));
    for (Host host : rack.hosts()) {
      host.clean(gang.id());
    }
  }

  private boolean awaitLocks(Host host, GangId gang) throws InterruptedException {
    while (surveys.ask(host).slots().stream().anyMatch(slot -> slot.gang().equals(gang.text()))) {
      Thread.sleep(BETWEEN_LOOKS);
    }
    return true;
  }

  /** The agent names what it keeps from the workspace on; a folder that is all foreign as one. */
  private Released release(Gang gang, NodeInfo node) throws IOException, InterruptedException {
    Optional<Json> answer = ask(gang.id(), node, "release");
    List<String> left =
        answer.stream()
            .flatMap(said -> said.texts("left").stream())
            .map(process -> CleanText.line(process, MOST_NAME) + " on " + node.host())
            .toList();
    if (!left.isEmpty()) {
      return new Released(List.of(), left);
    }
    awaitNoAgent(gang, node);
    if (hasFiles(node) && answer.isEmpty()) {
      // The agent was killed and could not clean up: another one does it, holding nothing.
      agents.restart(gang, node);
      answer = ask(gang.id(), node, "release");
      awaitNoAgent(gang, node);
      hasFiles(node);
    }
    List<String> kept =
        answer.map(said -> said.texts("kept")).orElse(List.of()).stream()
            .map(path -> "node " + node.index() + ": " + node.workspace() + "/" + path)
            .map(path -> path.replaceFirst("/\\.?$", ""))
            .toList();
    return new Released(kept, List.of());
  }

  private void awaitNoAgent(Gang gang, NodeInfo node) throws InterruptedException {
    while (ask(gang.id(), node, "status").isPresent()) {
      Thread.sleep(BETWEEN_LOOKS);
    }
  }

  /** Empty when there is no agent. */
  private Optional<Json> ask(GangId gang, NodeInfo node, String what) throws InterruptedException {
    try {
      return Optional.of(agents.control(gang, node, Json.object("do", what)));
    } catch (GpushException failed) {
      if (failed.failure() instanceof AgentFailure.NotThere) {
        return Optional.empty();
      }
      throw failed;
    }
  }

  private boolean hasFiles(NodeInfo node) throws IOException, InterruptedException {
    Host host = rack.hostOf(node);
    List<String> command =
        List.of("sh", "-c", HAS_FILES, "sh", node.workspace(), node.state(), swept(node));
    try {
      Answer answer = new Inquiry(host.machine(), tasks).ask(command, "", ANSWER_LIMIT);
      return !answer.output().startsWith("no");
    } catch (TimeoutException hangs) {
      String reason = host.name() + " has not answered for " + DurationText.of(ANSWER_LIMIT);
      throw new IOException(reason, hangs);
    }
  }

  /** {@code ~/gpush} was made by us; the user's scratch folder was not. */
  private String swept(NodeInfo node) {
    String path = node.workspace();
    for (int level = 0; level < LEVELS && path.contains("/"); level++) {
      path = path.substring(0, path.lastIndexOf('/'));
    }
    return rack.scratch().isEmpty() && path.endsWith("/gpush") ? path : "";
  }
}
