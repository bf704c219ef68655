package dev.gpush.backends.kubernetes.pods;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.cluster.ClusterRoom;
import dev.gpush.backends.kubernetes.cluster.GpuKind;
import dev.gpush.backends.remote.AgentAnswer;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.GangTag;
import dev.gpush.backends.remote.RollBack;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.AgentStart;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.Loan;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.gang.PeerSecret;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Inquiry;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.text.Phrase;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;

/**
 * Gangs of pods of other owners: an agent is started beside what runs in each of them, and nothing
 * else. No object of the cluster is made, changed or deleted; the names of the pods are in the
 * gang, and if that is lost, the agents end by their lease.
 */
public final class AttachedGangs {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Json.Obj RELEASE = Json.object("do", "release");

  /**
   * Finds a folder that the pod can write to and shares with no other pod, and the number of its
   * CPUs.
   */
  private static final String LOOK =
      "for folder in \"$HOME\" /workspace /tmp /var/tmp; do"
          + " [ \"$folder\" != / ] && [ -d \"$folder\" ] && [ -w \"$folder\" ] && break; done;"
          + " echo \"$folder\"; nproc 2>/dev/null || echo 1";

  private final Namespace place;
  private final PodAgents agents;
  private final Tasks tasks;
  private final SecureRandom random;

  public AttachedGangs(Namespace place, PodAgents agents, Tasks tasks, SecureRandom random) {
    this.place = place;
    this.agents = agents;
    this.tasks = tasks;
    this.random = random;
  }

  public Loan lend(String name) throws InterruptedException, Unanswered {
    List<Json> pods = AttachedPods.pods(place, name);
    ClusterRoom room = place.room();
    GpuRequest gpus =
        pods.stream()
            .flatMap(pod -> gpus(pod, room).stream())
            .findFirst()
            .orElse(GpuRequest.none());
    return new Loan(pods.size(), gpus);
  }

  private static Optional<GpuRequest> gpus(Json pod, ClusterRoom room) {
    return AttachedPods.gpus(pod)
        .map(
            gpus ->
                new GpuRequest(
                    Optional.of(model(pod, room)).filter(word -> !word.equals("GPU")),
                    gpus.count()));
  }

  /** From its node, if that may be read. */
  private static String model(Json pod, ClusterRoom room) {
    String node = pod.object("spec").text("nodeName").orElse("");
    return room.nodes().stream()
        .flatMap(List::stream)
        .filter(each -> each.name().equals(node))
        .findFirst()
        .map(GpuKind::model)
        .orElse("GPU");
  }

  // ---- taking

  /** All or nothing: if one pod has no Python, no agent stays in the others. */
  public Gang take(GangRequest request, String name) throws InterruptedException {
    boolean done = false;
    var pods = new TreeMap<Integer, Json>();
    try {
      AttachedPods.pods(place, name).forEach(pod -> pods.put(pods.size(), pod));
      if (pods.size() != request.nodes()) {
        throw place.failed("it has " + Phrase.counted(pods.size(), "pod") + " now");
      }
      Gang gang = begun(request, name, pods);
      done = true;
      return gang;
    } catch (Unanswered unknown) {
      throw place.failed(unknown);
    } finally {
      if (!done) {
        RollBack.quietly(() -> agents.inPods(request.gang(), pods, RELEASE, LIMIT));
      }
    }
  }

  private Gang begun(GangRequest request, String name, Map<Integer, Json> pods)
      throws InterruptedException, Unanswered {
    ClusterRoom room = place.roomAsPlanned();
    List<NodeInfo> nodes =
        tasks.each(
            "look-into-pods",
            pods.entrySet(),
            pod -> node(pod.getKey(), pod.getValue(), request.requester().project(), room));
    PeerSecret secret = PeerSecret.random(random);
    var starts = new TreeMap<Integer, Json.Obj>();
    nodes.forEach(node -> starts.put(node.index(), start(request, node, secret)));
    Map<Integer, AgentAnswer> answers = agents.start(request.gang(), pods, starts, LIMIT);
    Map<Integer, Json> said = AgentAnswer.said(answers);
    if (said.size() < pods.size()) {
      throw place.failed("its agents could not be started: " + AgentAnswer.silent(answers));
    }
    // Agents of an earlier attempt have another secret.
    agents.inPods(request.gang(), pods, secret.onHosts().with("do", "peers"), LIMIT);
    return new Gang(
        request.gang(),
        place.name(),
        nodes.stream().map(node -> withDevices(node, said)).toList(),
        "pods of " + name + " in " + place.namespace(),
        true);
  }

  private static NodeInfo withDevices(NodeInfo node, Map<Integer, Json> said) {
    int gpus = node.hasGpus() ? node.slots().size() : 0;
    return node.with(GangTag.slots(gpus, said.getOrDefault(node.index(), Json.object())));
  }

  private NodeInfo node(int index, Json pod, String project, ClusterRoom room)
      throws InterruptedException {
    String[] said = look(pod).split("\n", -1);
    if (said.length < 2 || !said[0].startsWith("/")) {
      throw place.failed(Pods.name(pod) + ": none of its folders can be written");
    }
    int gpus = gpus(pod, room).map(GpuRequest::count).orElse(0);
    return new NodeInfo(
        index,
        Pods.name(pod),
        pod.object("status").text("podIP").orElse(""),
        GangTag.slots(gpus, Json.object()),
        gpus == 0 ? "" : model(pod, room),
        said[1].matches("[0-9]{1,4}") ? Math.max(1, Integer.parseInt(said[1])) : 1,
        // A home may be one volume for all pods.
        said[0] + "/gpush/" + Pods.name(pod) + "/" + project);
  }

  private String look(Json pod) throws InterruptedException {
    try {
      Inquiry.Answer answer =
          new Inquiry(inside(pod), tasks).ask(List.of("/bin/sh", "-c", LOOK), "", LIMIT);
      if (answer.succeeded()) {
        return answer.output();
      }
      throw place.failed(
          Pods.name(pod) + ": " + ClusterText.clean(answer.errors() + answer.output()));
    } catch (IOException | TimeoutException broken) {
      throw place.failed(
          Pods.name(pod) + ": " + ClusterText.clean(String.valueOf(broken.getMessage())));
    }
  }

  private Machine inside(Json pod) {
    return new Machine() {
      @Override
      public String name() {
        return Pods.name(pod);
      }

      @Override
      public Pipe spawn(List<String> arguments) throws IOException {
        return place
            .api()
            .exec(place.namespace(), Pods.name(pod), AttachedPods.container(pod), arguments);
      }
    };
  }

  private static Json.Obj start(GangRequest request, NodeInfo node, PeerSecret secret) {
    return AgentStart.of(request, node)
        .with("env_own", true)
        .with("env_over", request.environment())
        .with("peers", secret.onHosts())
        .with("hold_only", true)
        .with("guard", true);
  }

  // ---- having

  /** Those of its pods that exist, by their names; ended ones do not count. */
  private Map<Integer, Json> pods(Gang gang, Collection<Integer> nodes)
      throws InterruptedException, Unanswered {
    var pods = new TreeMap<Integer, Json>();
    for (int node : nodes) {
      pod(gang.nodes().get(node))
          .filter(pod -> !Pods.hasEnded(pod))
          .ifPresent(pod -> pods.put(node, pod));
    }
    return pods;
  }

  /** An answer for every node that is linked, or whose pod exists. */
  private Map<Integer, AgentAnswer> ask(Gang gang, Json.Obj control, Duration limit)
      throws InterruptedException, Unanswered {
    List<Integer> all = gang.nodes().stream().map(NodeInfo::index).toList();
    Map<Integer, AgentAnswer> answers =
        agents.ask(gang.id(), all, nodes -> pods(gang, nodes), control, limit);
    if (answers.size() < all.size() || !AgentAnswer.withoutAgent(answers).isEmpty()) {
      place.requireHome();
    }
    return answers;
  }

  public Optional<Json> pod(NodeInfo node) throws InterruptedException, Unanswered {
    try {
      return place.api().find(place.path("/api/v1", "pods", node.host()));
    } catch (ApiRefusal refusal) {
      throw place.notAllowed("look at pods", refusal);
    }
  }

  /** A node exists as long as its agent: when the container restarts it is gone. */
  public Observation observe(Gang gang) throws InterruptedException, Unanswered {
    Map<Integer, AgentAnswer> answers = ask(gang, Json.object("do", "status"), LIMIT);
    return AgentAnswer.observation(answers, gang.nodes(), "its pod has ended or restarted");
  }

  public void renew(Gang gang, LeaseTerms terms) throws InterruptedException, Unanswered {
    Map<Integer, AgentAnswer> answers = ask(gang, terms.json().with("do", "renew"), LIMIT);
    if (AgentAnswer.withoutAgent(answers).size() == answers.size()) {
      throw new GpushException(new AgentFailure.NotThere(gang.id().text(), 0));
    }
    AgentAnswer.requireRenewed(answers);
  }

  /** Ends the agents; the pods and their own programs stay. */
  public List<String> release(Gang gang, Duration limit) throws InterruptedException {
    try {
      Map<Integer, AgentAnswer> answers = ask(gang, RELEASE, limit);
      answers.keySet().removeAll(AgentAnswer.withoutAgent(answers));
      if (AgentAnswer.said(answers).size() < answers.size()) {
        throw notReleased(gang, AgentAnswer.silent(answers));
      }
      String left = AgentAnswer.left(AgentAnswer.said(answers));
      if (!left.isEmpty()) {
        throw notReleased(gang, left);
      }
      return kept(gang, AgentAnswer.said(answers));
    } catch (Unanswered unknown) {
      throw notReleased(gang, unknown.words());
    }
  }

  private GpushException notReleased(Gang gang, String why) {
    return new GpushException(new BackendFailure.NotReleased(place.name(), gang.id().text(), why));
  }

  /** The files that agents have left in place, each with its node. */
  public static List<String> kept(Gang gang, Map<Integer, Json> said) {
    return AgentAnswer.kept(
        said, node -> node < gang.nodes().size() ? gang.nodes().get(node).workspace() : "");
  }
}
