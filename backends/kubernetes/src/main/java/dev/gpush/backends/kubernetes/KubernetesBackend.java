package dev.gpush.backends.kubernetes;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.api.ApiServer;
import dev.gpush.backends.kubernetes.api.KubeApi;
import dev.gpush.backends.kubernetes.cluster.ClusterPlace;
import dev.gpush.backends.kubernetes.cluster.ClusterRoom;
import dev.gpush.backends.kubernetes.cluster.GpuKind;
import dev.gpush.backends.kubernetes.cluster.KubernetesNode;
import dev.gpush.backends.kubernetes.cluster.KubernetesSettings;
import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.backends.kubernetes.gangs.GangSystem;
import dev.gpush.backends.kubernetes.gangs.GangSystems;
import dev.gpush.backends.kubernetes.gangs.PlainGang;
import dev.gpush.backends.kubernetes.objects.Jobs;
import dev.gpush.backends.kubernetes.objects.PythonInitContainer;
import dev.gpush.backends.kubernetes.pods.AgentArrivals;
import dev.gpush.backends.kubernetes.pods.AttachedGangs;
import dev.gpush.backends.kubernetes.pods.AttachedPods;
import dev.gpush.backends.kubernetes.pods.GrantedPods;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.kubernetes.pods.PodAgents;
import dev.gpush.backends.kubernetes.pods.PodFailure;
import dev.gpush.backends.kubernetes.pods.PodHistory;
import dev.gpush.backends.kubernetes.pods.PodNames;
import dev.gpush.backends.kubernetes.pods.Pods;
import dev.gpush.backends.kubernetes.pods.WaitingPipes;
import dev.gpush.backends.remote.AgentAnswer;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.backend.AgentRestart;
import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities;
import dev.gpush.core.backend.Capabilities.AgentLinks;
import dev.gpush.core.backend.Capabilities.AgentPipes;
import dev.gpush.core.backend.Capabilities.AgentRestarts;
import dev.gpush.core.backend.Capabilities.Capability;
import dev.gpush.core.backend.Capabilities.LeaseRecords;
import dev.gpush.core.backend.Capabilities.Lending;
import dev.gpush.core.backend.Capabilities.Places;
import dev.gpush.core.backend.Capabilities.QueueOrder;
import dev.gpush.core.backend.Capabilities.RequestQueue;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.backend.Waiter;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.Loan;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.text.Phrase;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A namespace of a Kubernetes cluster. A gang is one Indexed Job whose pods' first process is the
 * agent. It keeps no state: the objects with gpush's labels and the agents' answers have it.
 */
public final class KubernetesBackend implements Backend {
  private static final Duration STATUS_LIMIT = Duration.ofSeconds(30);
  private static final Json.Obj STATUS = Json.object("do", "status");

  private final Namespace place;
  private final AgentProgram agent;
  private final PodAgents agents;
  private final PodHistory past;
  private final PodNames names;
  private final WaitingPipes pipes;
  private final AttachedGangs loans;
  private final Tasks tasks;
  private final SecureRandom random;

  private KubernetesBackend(Namespace place, AgentProgram agent, Tasks tasks, SecureRandom random) {
    this.place = place;
    this.agent = agent;
    this.pipes = new WaitingPipes(place.time());
    this.agents = new PodAgents(place, agent, pipes, tasks);
    this.past = new PodHistory();
    this.names = new PodNames(place, past);
    this.loans = new AttachedGangs(place, agents, tasks, random);
    this.tasks = tasks;
    this.random = random;
  }

  /** The same backend, which asks these agents first. */
  private KubernetesBackend(KubernetesBackend same, PodAgents agents) {
    this.place = same.place;
    this.agent = same.agent;
    this.pipes = same.pipes;
    this.agents = agents;
    this.past = same.past;
    this.names = same.names;
    this.loans = new AttachedGangs(place, agents, same.tasks, same.random);
    this.tasks = same.tasks;
    this.random = same.random;
  }

  /** The same backend in the place of a gang. */
  private KubernetesBackend(KubernetesBackend same, Namespace place) {
    this.place = place;
    this.agent = same.agent;
    this.pipes = same.pipes;
    this.agents = new PodAgents(place, agent, pipes, same.tasks);
    this.past = same.past;
    this.names = new PodNames(place, past);
    this.tasks = same.tasks;
    this.random = same.random;
    this.loans = new AttachedGangs(place, agents, tasks, random);
  }

  /**
   * Made from a block of the configuration.
   *
   * @param environment may name a proxy
   * @param random suitable for secrets
   */
  public static KubernetesBackend of(
      BackendConfig config,
      Map<String, String> environment,
      AgentProgram agent,
      Tasks tasks,
      Clock clock,
      SecureRandom random) {
    var api = new KubeApi(KubernetesSettings.of(config).access(), environment);
    return over(api, config, agent, tasks, clock, random);
  }

  /** The same with another client of the API server. */
  public static KubernetesBackend over(
      ApiServer api,
      BackendConfig config,
      AgentProgram agent,
      Tasks tasks,
      Clock clock,
      SecureRandom random) {
    return new KubernetesBackend(
        new Namespace(config.name(), KubernetesSettings.of(config), api, clock),
        agent,
        tasks,
        random);
  }

  @Override
  public String name() {
    return place.name();
  }

  @Override
  public String kind() {
    return "kubernetes";
  }

  @Override
  public Capabilities capabilities() {
    return Capabilities.of(Capability.IMAGES, Capability.VOLUMES)
        .with(RequestQueue.class, (request, waiter) -> reservation(request, waiter).resume())
        .with(QueueOrder.class, gang -> told(() -> ahead(gang)))
        .with(Lending.class, name -> told(() -> loans.lend(name)))
        .with(AgentPipes.class, (gang, node) -> agents.waiting(gang.id(), node))
        .with(AgentLinks.class, linked -> new KubernetesBackend(this, agents.withLinks(linked)))
        .with(Places.class, new KeptPlaces())
        .with(AgentRestarts.class, this::restart)
        .with(LeaseRecords.class, this::lease);
  }

  private Optional<JobsAhead> ahead(GangId gang) throws InterruptedException, Unanswered {
    Optional<Json> job = place.job(gang);
    return job.isEmpty()
        ? Optional.empty()
        : GangSystems.of(place).system().ahead(place, job.get());
  }

  private final class KeptPlaces implements Places {
    @Override
    public String now() {
      return place.now().text();
    }

    @Override
    public Backend at(String there) {
      return new KubernetesBackend(KubernetesBackend.this, place.at(ClusterPlace.parse(there)));
    }
  }

  @Override
  public String describe() {
    return told(
        () -> {
          String version = place.api().version().text("gitVersion").orElse("");
          String where = place.api().server() + ", namespace " + place.namespace();
          GangSystem system = GangSystems.of(place).system();
          return "Kubernetes "
              + version.replaceFirst("^v", "")
              + " at "
              + where
              + ": "
              + there(place.room())
              + ", gangs by "
              + (system instanceof PlainGang ? "gpush" : system.name());
        });
  }

  private static String there(ClusterRoom room) {
    if (room.nodes().isEmpty()) {
      return "you may not list its nodes";
    }
    List<KubernetesNode> nodes = room.nodes().get();
    long in = nodes.stream().filter(KubernetesNode::isSchedulable).count();
    long gpus = 0;
    long free = 0;
    for (KubernetesNode node : nodes) {
      Optional<String> resource = GpuKind.resource(node).filter(_ -> node.isSchedulable());
      gpus += resource.map(node::has).orElse(0L);
      free += resource.map(node::free).orElse(0L);
    }
    return in
        + " of "
        + Phrase.counted(nodes.size(), "node")
        + ", "
        + (room.pods().isPresent() ? free + " of " : "")
        + Phrase.counted(gpus, "GPU")
        + (room.pods().isPresent() ? " free" : "");
  }

  @Override
  public List<String> explain() {
    return told(() -> new AccessCheck(place).lines());
  }

  @Override
  public Plan plan(GangRequest request) {
    return request.attach().isPresent()
        ? told(() -> new Plan.Now(words(loans.lend(request.attach().get()))))
        : told(() -> new KubernetesPlan(place, request).plan());
  }

  private static String words(Loan loan) {
    return loan.gpus().isNone()
        ? Phrase.counted(loan.nodes(), "pod")
        : loan.nodes() + " × " + loan.gpus().count() + " " + loan.gpus().model().orElse("GPU");
  }

  @Override
  public Gang reserve(GangRequest request, Waiter waiter) throws InterruptedException {
    if (request.attach().isPresent()) {
      return loans.take(request, request.attach().get());
    }
    return reservation(request, waiter).take();
  }

  private KubernetesReservation reservation(GangRequest request, Waiter waiter) {
    var arrivals = AgentArrivals.of(request.gang(), agents, place.time(), tasks);
    return new KubernetesReservation(place, agent, arrivals, random, release(), request, waiter);
  }

  private KubernetesRelease release() {
    return new KubernetesRelease(place, agents, pipes, tasks);
  }

  @Override
  public Observation observe(Gang gang) {
    return Unanswered.observation(() -> gang.isBorrowed() ? loans.observe(gang) : look(gang));
  }

  private Observation look(Gang gang) throws InterruptedException, Unanswered {
    Optional<Json> job = place.job(gang.id());
    Optional<String> end = job.map(Jobs::end).orElse(Optional.of("its job no longer exists"));
    if (end.isPresent()) {
      // A pod that is still ending holds its GPUs.
      return Pods.of(place, gang.id()).living().isEmpty()
          ? new Observation.Gone(end.get())
          : new Observation.Exists();
    }
    List<Integer> lost = job.map(Jobs::ended).orElse(List.of());
    if (lost.isEmpty() || gang.nodes().isEmpty() || lost.size() >= gang.nodes().size()) {
      return new Observation.Exists();
    }
    return new Observation.Partly(
        lost, "the agent has ended on " + new Observation.Partly(lost, "").nodes());
  }

  /**
   * A container that has ended has its reason as long as its pod exists. A pod that was removed is
   * replaced on any node, with other GPUs.
   */
  private AgentRestart restart(Gang gang, int node) {
    return gang.isBorrowed()
        ? new AgentRestart("", gang.nodes().get(node))
        : told(() -> successor(gang, node));
  }

  private AgentRestart successor(Gang gang, int node) throws InterruptedException, Unanswered {
    Pods pods = Pods.of(place, gang.id());
    past.seen(gang.id(), pods);
    Json pod = pods.byNode().getOrDefault(node, Json.object());
    String why =
        PodFailure.before(pod).or(() -> past.why(gang.id(), node, Pods.name(pod))).orElse("");
    NodeInfo before = gang.nodes().get(node);
    Optional<Json> job = place.job(gang.id());
    Map<Integer, Json> said =
        AgentAnswer.said(
            agents.ask(gang.id(), List.of(node), _ -> Map.of(node, pod), STATUS, STATUS_LIMIT));
    if (job.isEmpty() || said.isEmpty()) {
      return new AgentRestart(why, before);
    }
    return new AgentRestart(
        why,
        new GrantedPods(place, job.get()).gang(pods, said, place.nodes(pods)).nodes().get(node));
  }

  private Optional<LeaseTerms> lease(Gang gang, Duration idle) {
    if (gang.isBorrowed()) {
      return Optional.empty();
    }
    return told(
        () -> {
          Optional<Json> job = place.job(gang.id());
          return job.isEmpty()
              ? Optional.empty()
              : Optional.of(new JobDeadline(place).lease(job.get(), idle));
        });
  }

  @Override
  public void renew(Gang gang, LeaseTerms terms) {
    told(
        () -> {
          if (gang.isBorrowed()) {
            loans.renew(gang, terms);
            return true;
          }
          Json job =
              place
                  .job(gang.id())
                  .filter(there -> Jobs.end(there).isEmpty())
                  .orElseThrow(
                      () -> new GpushException(new AgentFailure.NotThere(gang.id().text(), 0)));
          if (!terms.keepsHardEnd()) {
            new JobDeadline(place).set(job, terms.hardEnd());
          }
          AgentAnswer.requireRenewed(
              agents.ask(
                  gang.id(),
                  gang.nodes().stream().map(NodeInfo::index).toList(),
                  nodes -> Pods.of(place, gang.id()).byNode(nodes),
                  terms.json().with("do", "renew"),
                  STATUS_LIMIT));
          return true;
        });
  }

  @Override
  public List<String> release(Gang gang, Duration limit) throws InterruptedException {
    past.forget(gang.id());
    return gang.isBorrowed() ? loans.release(gang, limit) : release().all(gang, limit);
  }

  @Override
  public List<Discovered> discover(String owner) {
    return told(
        () -> {
          var found = new ArrayList<Discovered>();
          List<Json> jobs = ours();
          place.requireHome();
          for (Json job : jobs) {
            Optional<PodTag> tag = PodTag.of(job);
            if (tag.isPresent()
                && tag.get().facts().isOf(owner)
                && Jobs.end(job).isEmpty()
                && !Jobs.isBeingDeleted(job)) {
              found.add(discovered(job, tag.get()));
            }
          }
          return List.copyOf(found);
        });
  }

  private List<Json> ours() throws InterruptedException, Unanswered {
    try {
      return place.list(Jobs.GROUP, "jobs", PodTag.MANAGER_LABEL + "=" + PodTag.MANAGER);
    } catch (ApiRefusal refusal) {
      throw place.notAllowed("list jobs", refusal);
    }
  }

  private Discovered discovered(Json job, PodTag tag) throws InterruptedException, Unanswered {
    var id = new GangId(tag.gang());
    Pods pods = Pods.of(place, id);
    if (Jobs.isSuspended(job) || pods.placed() < tag.facts().nodes() - Jobs.ended(job).size()) {
      return tag.facts().waiting(new Gang(id, name(), List.of(), GrantedPods.detail(place, job)));
    }
    Map<Integer, Json> said =
        AgentAnswer.said(agents.inPods(id, pods.byNode(), STATUS, STATUS_LIMIT));
    return tag.facts().found(new GrantedPods(place, job).gang(pods, said, place.nodes(pods)), said);
  }

  @Override
  public Pipe spawn(Gang gang, int node, List<String> arguments) throws IOException {
    if (node >= gang.nodes().size() || node < 0) {
      throw new IllegalArgumentException("no node " + node + " in " + gang);
    }
    Json pod = Unanswered.orBroken(() -> pod(gang, node));
    if (Pods.name(pod).isEmpty()) {
      throw new IOException("it has no pod now");
    }
    if (!Pods.isRunning(pod)) {
      throw new IOException("pod " + Pods.name(pod) + ": " + PodFailure.of(pod).words());
    }
    return place
        .api()
        .exec(place.namespace(), Pods.name(pod), AttachedPods.container(pod), arguments);
  }

  /** An empty object if the node has no pod now. */
  private Json pod(Gang gang, int node) throws InterruptedException, Unanswered {
    return gang.isBorrowed()
        ? loans.pod(gang.nodes().get(node)).orElse(Json.object())
        : names.pod(gang.id(), node);
  }

  @Override
  public List<String> interpreters(Gang gang) {
    boolean isBrought = place.settings().pod().pythonImage().isPresent() && !gang.isBorrowed();
    try {
      Json pod = gang.isBorrowed() ? Json.object() : names.pod(gang.id(), 0);
      return Pods.name(pod).isEmpty()
          ? PythonInitContainer.interpreters(isBrought)
          : PythonInitContainer.interpreters(pod);
    } catch (Unanswered unknown) {
      return PythonInitContainer.interpreters(isBrought);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return PythonInitContainer.interpreters(isBrought);
    }
  }

  private <T> T told(Unanswered.Question<T> question) {
    return Unanswered.answer(name(), place.settings().access().kubectl() + " version", question);
  }
}
