package dev.gpush.backends.slurm;

import dev.gpush.backends.remote.AgentAnswer;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.backends.slurm.cluster.Gres;
import dev.gpush.backends.slurm.cluster.HostList;
import dev.gpush.backends.slurm.cluster.Partition;
import dev.gpush.backends.slurm.cluster.SlurmJob;
import dev.gpush.backends.slurm.cluster.SlurmNode;
import dev.gpush.backends.slurm.cluster.SlurmTime;
import dev.gpush.backends.slurm.command.LoginNode;
import dev.gpush.backends.slurm.command.SlurmCommands;
import dev.gpush.backends.slurm.command.SlurmQueue;
import dev.gpush.backends.transport.RemoteMachine;
import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities;
import dev.gpush.core.backend.Capabilities.AgentLinks;
import dev.gpush.core.backend.Capabilities.Capability;
import dev.gpush.core.backend.Capabilities.Logins;
import dev.gpush.core.backend.Capabilities.PipeLimit;
import dev.gpush.core.backend.Capabilities.Places;
import dev.gpush.core.backend.Capabilities.QueueOrder;
import dev.gpush.core.backend.Capabilities.RequestQueue;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.LinkedAgents;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.backend.Waiter;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Gate;
import dev.gpush.core.machine.Inquiry;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.DurationText;
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
 * A Slurm cluster, through its login node. A gang is one job, named by the gang; its batch script
 * owns the agents. It keeps no state: squeue and the agents have it.
 */
public final class SlurmBackend implements Backend {
  private static final Duration STATUS_LIMIT = Duration.ofSeconds(30);

  private final Site site;
  private final List<Gate> gates;
  private final AgentProgram agent;
  private final LinkedAgents linked;
  private final Tasks tasks;
  private final SecureRandom random;
  private final Optional<Places> places;

  /** The same backend, which asks these agents first. */
  private SlurmBackend(SlurmBackend same, LinkedAgents linked, Optional<Places> places) {
    this.gates = same.gates;
    this.site = same.site;
    this.agent = same.agent;
    this.linked = linked;
    this.tasks = same.tasks;
    this.random = same.random;
    this.places = places;
  }

  private SlurmBackend(
      String name,
      SlurmSettings settings,
      Machine login,
      List<Gate> gates,
      AgentProgram agent,
      Tasks tasks,
      Clock clock,
      SecureRandom random) {
    this.gates = List.copyOf(gates);
    this.site = new Site(name, gates, settings, login, agent, tasks, clock);
    this.agent = agent;
    this.linked = LinkedAgents.NONE;
    this.tasks = tasks;
    this.random = random;
    this.places = Optional.empty();
  }

  /**
   * Made from a block of the configuration.
   *
   * @param login where sbatch is
   * @param gates its logins that may need the user
   * @param random suitable for secrets
   */
  public static SlurmBackend of(
      BackendConfig config,
      Machine login,
      List<Gate> gates,
      AgentProgram agent,
      Tasks tasks,
      Clock clock,
      SecureRandom random) {
    return new SlurmBackend(
        config.name(), SlurmSettings.of(config), login, gates, agent, tasks, clock, random);
  }

  /** The same, of a configuration that can lead elsewhere later. */
  public SlurmBackend keeping(Places port) {
    return new SlurmBackend(this, linked, Optional.of(port));
  }

  @Override
  public String name() {
    return site.name();
  }

  @Override
  public String kind() {
    return "slurm";
  }

  @Override
  public Capabilities capabilities() {
    Capabilities all =
        Capabilities.of(Capability.NATIVES, Capability.IMAGES, Capability.KEPT_FILES)
            .with(RequestQueue.class, (request, waiter) -> reservation(request, waiter).resume())
            .with(QueueOrder.class, gang -> told(() -> site.queue().ahead(gang)))
            .with(PipeLimit.class, new FewSteps())
            .with(AgentLinks.class, agents -> new SlurmBackend(this, agents, places))
            .with(Logins.class, () -> gates);
    return places.map(port -> all.with(Places.class, port)).orElse(all);
  }

  @Override
  public String describe() {
    return told(
        () -> {
          LoginNode.Facts login = site.login().facts();
          List<Partition> partitions = site.partitions();
          List<SlurmNode> nodes = site.nodes();
          long in = nodes.stream().filter(SlurmNode::isInService).count();
          int gpus =
              nodes.stream()
                  .filter(SlurmNode::isInService)
                  .mapToInt(node -> Gres.total(node.gpus()))
                  .sum();
          int used =
              nodes.stream()
                  .filter(SlurmNode::isInService)
                  .mapToInt(node -> Gres.total(node.used()))
                  .sum();
          String cluster = site.settings().cluster();
          return login.version()
              + (cluster.isEmpty() ? "" : ", cluster " + cluster)
              + " at "
              + site.machine()
              + " as "
              + login.user()
              + ": "
              + in
              + " of "
              + Phrase.counted(nodes.size(), "node")
              + ", "
              + (gpus - used)
              + " of "
              + Phrase.counted(gpus, "GPU")
              + " free, partitions "
              + ClusterText.list(partitions.stream().map(Partition::name).toList());
        });
  }

  @Override
  public List<String> explain() {
    String asked =
        gates.stream()
            .filter(RemoteMachine.class::isInstance)
            .map(RemoteMachine.class::cast)
            .findFirst()
            .map(login -> login.name() + " by " + login.explain())
            .orElse("Slurm's programs run on this machine");
    String cluster = site.settings().cluster();
    return List.of(asked + (cluster.isEmpty() ? "" : "; all of it for the cluster " + cluster));
  }

  @Override
  public Plan plan(GangRequest request) {
    return told(() -> new SlurmPlan(site).of(request));
  }

  @Override
  public Gang reserve(GangRequest request, Waiter waiter) throws InterruptedException {
    return reservation(request, waiter).take();
  }

  private SlurmReservation reservation(GangRequest request, Waiter waiter) {
    return new SlurmReservation(site, agent, random, release(), request, waiter);
  }

  @Override
  public Observation observe(Gang gang) {
    return Unanswered.observation(() -> look(gang));
  }

  private Observation look(Gang gang) throws InterruptedException, Unanswered {
    List<SlurmJob> jobs = site.queue().of(gang.id());
    Optional<SlurmJob> living = SlurmQueue.living(jobs);
    if (living.isEmpty()) {
      return new Observation.Gone(
          jobs.isEmpty() ? "its job is no longer in the queue" : jobs.getLast().fate());
    }
    if (!living.get().isRunning() || gang.nodes().isEmpty()) {
      return new Observation.Exists();
    }
    Map<Integer, AgentAnswer> answers = status(gang.id(), living.get(), gang.nodes().size());
    Observation seen = AgentAnswer.observation(answers, gang.nodes(), "no agent");
    // Without any agent the script ends, and the job with it; then the gang is gone.
    return seen instanceof Observation.Gone ? new Observation.Exists() : seen;
  }

  private Map<Integer, AgentAnswer> status(GangId gang, SlurmJob job, int nodes)
      throws InterruptedException {
    return site.agents().ask(job.id(), gang, nodes, Json.object("do", "status"), STATUS_LIMIT);
  }

  /** Only an administrator can raise a job's time limit, so gpush reads the limit and keeps it. */
  @Override
  public void renew(Gang gang, LeaseTerms terms) {
    told(
        () -> {
          SlurmJob job = running(gang);
          Duration left = SlurmTime.span(job.times().left()).orElse(Duration.ofDays(365));
          Duration most = JobShaping.before(left);
          Optional<Duration> wanted = terms.hardEnd();
          if (wanted.isPresent() && wanted.get().compareTo(most) > 0) {
            raise(gang, job, wanted.get(), wanted.get().minus(left).plus(JobShaping.SLACK));
            most = wanted.get();
          }
          Json.Obj kept = terms.json().with("do", "renew");
          Json.Obj renew =
              terms.keepsHardEnd() ? kept : kept.with("hard_s", wanted.orElse(most).toSeconds());
          int nodes =
              gang.nodes().isEmpty() ? HostList.expand(job.nodes()).size() : gang.nodes().size();
          AgentAnswer.requireRenewed(
              site.agents().withLinks(linked).ask(job.id(), gang.id(), nodes, renew, STATUS_LIMIT));
          return true;
        });
  }

  private void raise(Gang gang, SlurmJob job, Duration wanted, Duration more)
      throws InterruptedException, Unanswered {
    Inquiry.Answer answer =
        site.commands()
            .ask(
                List.of(
                    "scontrol",
                    "update",
                    "JobId=" + job.id(),
                    "TimeLimit=+" + SlurmTime.limit(more)),
                "",
                SlurmCommands.LIMIT);
    if (!answer.succeeded()) {
      String session =
          JobTag.parse(job.label().comment())
              .map(tag -> tag.gang().requester().session())
              .orElse(gang.id().text());
      throw new GpushException(
          new SessionFailure.CannotExtend(
              session,
              job.words()
                  + " ends in "
                  + DurationText.coarse(SlurmTime.span(job.times().left()).orElse(Duration.ZERO))
                  + ", and Slurm lets only an administrator raise that ("
                  + ClusterText.clean(answer.errors())
                  + "); one can: "
                  + site.there(
                      "scontrol update JobId=" + job.id() + " TimeLimit=+" + SlurmTime.limit(more)),
              "gpush up -s "
                  + session
                  + " --replace --for "
                  + DurationText.of(wanted)
                  + ", a new job with a new place in the queue"));
    }
  }

  private SlurmJob running(Gang gang) throws InterruptedException, Unanswered {
    return SlurmQueue.living(site.queue().of(gang.id()))
        .filter(SlurmJob::isRunning)
        .orElseThrow(() -> new GpushException(new AgentFailure.NotThere(gang.id().text(), 0)));
  }

  @Override
  public List<String> release(Gang gang, Duration limit) throws InterruptedException {
    return release().all(gang, limit);
  }

  private SlurmRelease release() {
    return new SlurmRelease(site, agent, linked, tasks);
  }

  @Override
  public List<Discovered> discover(String owner) {
    return told(
        () -> {
          var found = new ArrayList<Discovered>();
          for (SlurmJob job : site.queue().all()) {
            Optional<JobTag> tag = JobTag.parse(job.label().comment());
            if (tag.isPresent() && tag.get().gang().isOf(owner)) {
              found.add(discovered(job, tag.get()));
            }
          }
          return List.copyOf(found);
        });
  }

  private Discovered discovered(SlurmJob job, JobTag tag) throws InterruptedException, Unanswered {
    var id = new GangId(job.label().name().substring(SlurmQueue.PREFIX.length()));
    if (!job.isRunning()) {
      return tag.gang().waiting(new Gang(id, name(), List.of(), job.words()));
    }
    Map<Integer, Json> said = AgentAnswer.said(status(id, job, tag.gang().nodes()));
    Gang gang = new GrantedJob(name(), id, job, tag).gang(site.nodes(job.nodes()), said);
    return tag.gang().found(gang, said);
  }

  @Override
  public Pipe spawn(Gang gang, int node, List<String> arguments) throws IOException {
    if (node >= gang.nodes().size() || node < 0) {
      throw new IllegalArgumentException("no node " + node + " in " + gang);
    }
    return site.steps().onNode(job(gang), gang.nodes().get(node).host(), arguments);
  }

  /** From the grant, which has it, else from the queue. */
  private long job(Gang gang) throws IOException {
    String digits = gang.detail().replaceFirst("^slurm job ", "");
    if (digits.matches("[0-9]{1,18}")) {
      return Long.parseLong(digits);
    }
    return Unanswered.orBroken(() -> running(gang).id());
  }

  /** Each pipe is a step. */
  private final class FewSteps implements PipeLimit {
    @Override
    public int most() {
      return site.settings().sruns();
    }

    /** One step for all nodes. Node 0 reports afterwards which ones have no line. */
    @Override
    public void introduce(Gang gang, Json.Obj where) {
      told(
          () -> {
            site.agents()
                .ask(
                    running(gang).id(),
                    gang.id(),
                    gang.nodes().size(),
                    where.with("do", "peers"),
                    STATUS_LIMIT);
            return true;
          });
    }
  }

  private <T> T told(Unanswered.Question<T> question) {
    return Unanswered.answer(name(), "gpush backends", question);
  }
}
