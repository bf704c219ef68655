package dev.gpush.backends.ssh;

import dev.gpush.backends.hosts.AgentCalls;
import dev.gpush.backends.hosts.FailureWords;
import dev.gpush.backends.hosts.GangRelease;
import dev.gpush.backends.hosts.HostGangs;
import dev.gpush.backends.ssh.Surveys.Silent;
import dev.gpush.backends.transport.RemoteMachine;
import dev.gpush.backends.transport.Ways;
import dev.gpush.core.agent.AgentProgram;
import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities;
import dev.gpush.core.backend.Capabilities.Capability;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Gate;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.talk.Person;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Hosts that nobody schedules, as one place: a gang is as many hosts, each with the GPUs asked for,
 * held by an agent on it that ends with its lease. There is no state here: what exists is what
 * agents and locks on the hosts say.
 */
public final class SshBackend implements Backend {
  private final SshPlace place;
  private final SecureRandom random;
  private final Tasks tasks;
  private final HostAgents agents;
  private final HostGangs gangs;
  private final Surveys surveys;

  private SshBackend(SshPlace place, AgentProgram agent, SecureRandom random, Tasks tasks) {
    this.place = place;
    this.random = random;
    this.tasks = tasks;
    this.agents = new HostAgents(agent, place, tasks);
    this.gangs = new HostGangs(place.name(), agents, tasks);
    this.surveys = new Surveys(place, tasks);
  }

  /** As a block of the configuration wants it. */
  public static SshBackend of(
      BackendConfig config, Ways ways, AgentProgram agent, SecureRandom random, Tasks tasks) {
    return new SshBackend(SshPlace.of(config, ways), agent, random, tasks);
  }

  @Override
  public String name() {
    return place.name();
  }

  @Override
  public String kind() {
    return "ssh";
  }

  @Override
  public Capabilities capabilities() {
    return Capabilities.of(Capability.KEPT_FILES);
  }

  @Override
  public String describe() {
    Surveys.Result result = gangs.uninterrupted(surveys::all);
    if (result.surveys().isEmpty()) {
      throw result.silent().getFirst().reason();
    }
    var slots = result.surveys().stream().flatMap(survey -> survey.slots().stream()).toList();
    long gpus = slots.stream().filter(Survey.Slot::isGpu).count();
    long free = slots.stream().filter(Survey.Slot::isGpu).filter(Survey.Slot::isFree).count();
    int hosts = place.hosts().size();
    var words = new StringBuilder(hosts + (hosts == 1 ? " host: " : " hosts: "));
    words.append(Survey.counted(slots));
    if (gpus > 0) {
      words.append(", ").append(free).append(" free");
    }
    result.surveys().stream()
        .filter(survey -> !survey.problem().isEmpty())
        .forEach(
            survey ->
                words
                    .append("; ")
                    .append(survey.host().name())
                    .append(": ")
                    .append(survey.problem()));
    result.silent().forEach(silent -> words.append("; ").append(FailureWords.of(silent.reason())));
    return words.toString();
  }

  @Override
  public Plan plan(GangRequest request) {
    if (request.nodes() > place.hosts().size()) {
      int hosts = place.hosts().size();
      return new Plan.Never(
          place.name()
              + " has "
              + hosts
              + (hosts == 1 ? " host, " : " hosts, ")
              + request.nodes()
              + " are asked for",
          List.of(
              "--nodes " + hosts + " --gpus " + (request.gpus().isNone() ? "0" : request.gpus())));
    }
    var choice = new HostChoice(place.name(), request.nodes(), request.gpus());
    Surveys.Result result =
        gangs.uninterrupted(
            () ->
                surveys.enough(
                    found -> choice.seats(found, request.nodes(), Set.of()).isPresent()));
    Plan plan = choice.plan(result);
    if (!(plan instanceof Plan.Now)) {
      requireSomebody(result);
    }
    return plan;
  }

  /** A way that a person could open comes before what is said without it. */
  static void requireSomebody(Surveys.Result result) {
    Optional<Silent> personal =
        result.silent().stream()
            .filter(
                silent ->
                    silent.reason().failure() instanceof MachineFailure machine
                        && !machine.mayPass())
            .findFirst();
    if (personal.isPresent()) {
      throw personal.get().reason();
    }
    if (result.surveys().isEmpty() && !result.silent().isEmpty()) {
      throw result.silent().getFirst().reason();
    }
  }

  @Override
  public Gang reserve(GangRequest request) throws InterruptedException {
    if (request.nodes() > place.hosts().size()) {
      throw HostGangs.refusal(place.name(), plan(request));
    }
    return new SshReservation(place, agents, surveys, release(), tasks, random, request).take();
  }

  private GangRelease release() {
    var resources = new HostResources(place, agents, surveys, tasks);
    return new GangRelease(place.name(), agents, HostResources.BETWEEN_LOOKS, resources, tasks);
  }

  @Override
  public Observation observe(Gang gang) {
    return gangs.uninterrupted(
        () -> gang.nodes().isEmpty() ? search(gang) : gangs.observe(gang, gang.nodes()));
  }

  private Observation search(Gang gang) throws InterruptedException {
    List<Work<Optional<Observation>, RuntimeException>> looks =
        place.hosts().stream()
            .<Work<Optional<Observation>, RuntimeException>>map(host -> () -> search(gang, host))
            .toList();
    List<Observation> found =
        tasks.all("search", looks).stream().flatMap(Optional::stream).toList();
    return found.stream()
        .filter(each -> each instanceof Observation.Exists)
        .findFirst()
        .orElseGet(
            () ->
                found.isEmpty() ? new Observation.Gone("no agent of this gang") : found.getFirst());
  }

  /** Empty when the host surely has none. */
  private Optional<Observation> search(Gang gang, Host host) {
    try {
      return agents.of(host.machine(), gang.id()).isEmpty()
          ? Optional.empty()
          : Optional.of(new Observation.Exists());
    } catch (IOException | GpushException silent) {
      return Optional.of(new Observation.CannotTell(FailureWords.of(silent)));
    }
  }

  @Override
  public void renew(Gang gang, LeaseTerms terms) {
    gangs.renew(gang, terms);
  }

  private Host host(Gang gang, int node) {
    return gang.nodes().stream()
        .filter(each -> each.index() == node)
        .findFirst()
        .map(place::hostOf)
        .orElseThrow(() -> new IllegalArgumentException("no node " + node + " in " + gang));
  }

  @Override
  public List<String> release(Gang gang, Duration limit) throws InterruptedException {
    return release().all(gang, limit);
  }

  /**
   * On the hosts that answer: one that is off holds nothing, and one that is cut off for long too.
   */
  @Override
  public List<Discovered> discover(String owner) {
    List<Work<List<Json>, RuntimeException>> questions =
        place.hosts().stream()
            .<Work<List<Json>, RuntimeException>>map(host -> () -> listed(host))
            .toList();
    return gangs.discovered(
        owner,
        gangs.uninterrupted(() -> tasks.all("discover", questions)).stream()
            .flatMap(List::stream)
            .toList());
  }

  private List<Json> listed(Host host) {
    try {
      return agents.list(host.machine());
    } catch (IOException | GpushException silent) {
      return List.of();
    }
  }

  @Override
  public Pipe spawn(Gang gang, int node, List<String> arguments) throws IOException {
    return host(gang, node).machine().spawn(arguments);
  }

  @Override
  public List<String> interpreters(Gang gang) {
    return AgentCalls.INTERPRETERS;
  }

  @Override
  public List<Gate> gates() {
    return place.hosts().stream()
        .<Gate>map(host -> new HostGate(host.name(), host.machine()))
        .toList();
  }

  /** By the name that its node has. */
  private record HostGate(String name, RemoteMachine machine) implements Gate {
    @Override
    public Optional<MachineFailure> closed() {
      return machine.closed();
    }

    @Override
    public void open(Person person) throws InterruptedException {
      machine.open(person);
    }
  }

  @Override
  public List<String> explain() {
    var ways = new LinkedHashMap<String, List<String>>();
    place
        .hosts()
        .forEach(
            host ->
                ways.computeIfAbsent(host.machine().explain(), _ -> new ArrayList<>())
                    .add(host.name()));
    var lines = new ArrayList<String>();
    ways.forEach((way, names) -> lines.add(String.join(", ", names) + " by " + way));
    return lines;
  }
}
