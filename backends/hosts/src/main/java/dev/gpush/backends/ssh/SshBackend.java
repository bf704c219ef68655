package dev.gpush.backends.ssh;

import dev.gpush.backends.ssh.Surveys.Silent;
import dev.gpush.backends.transport.RemoteMachine;
import dev.gpush.backends.transport.Ways;
import dev.gpush.core.agent.AgentProgram;
import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities;
import dev.gpush.core.backend.Capabilities.Capability;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.Gang;
import dev.gpush.core.backend.GangId;
import dev.gpush.core.backend.GangRequest;
import dev.gpush.core.backend.LeaseTerms;
import dev.gpush.core.backend.NodeInfo;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
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
import java.util.TreeMap;

/**
 * Hosts that nobody schedules, as one place: a gang is as many hosts, each with the GPUs asked for,
 * held by an agent on it that ends with its lease. There is no state here: what exists is what
 * agents and locks on the hosts say.
 */
public final class SshBackend implements Backend {
  /** What calls itself otherwise was not made by us. */
  private static final String GANG_ID = "[0-9a-f]{16}";

  private final SshPlace place;
  private final SecureRandom random;
  private final Tasks tasks;
  private final HostAgents agents;
  private final Surveys surveys;

  private SshBackend(SshPlace place, AgentProgram agent, SecureRandom random, Tasks tasks) {
    this.place = place;
    this.random = random;
    this.tasks = tasks;
    this.agents = new HostAgents(agent, place.locks(), tasks);
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
    Surveys.Result result = uninterrupted(surveys::all);
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
        uninterrupted(
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

  static GpushException refusal(String backend, Plan plan) {
    return new GpushException(
        switch (plan) {
          case Plan.Never(var reason, var works) ->
              new BackendFailure.NeverFits(backend, reason, works);
          case Plan.Later(var reason, _, var holders) ->
              new BackendFailure.Taken(backend, reason, holders);
          case Plan.Now(var what) -> new BackendFailure.Taken(backend, what, List.of());
        });
  }

  @Override
  public Gang reserve(GangRequest request) throws InterruptedException {
    if (request.nodes() > place.hosts().size()) {
      throw refusal(place.name(), plan(request));
    }
    return new SshReservation(place, agents, surveys, release(), tasks, random, request).take();
  }

  private SshRelease release() {
    return new SshRelease(place, agents, surveys, tasks);
  }

  @Override
  public Observation observe(Gang gang) {
    return uninterrupted(() -> gang.nodes().isEmpty() ? search(gang) : look(gang));
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

  private Observation look(Gang gang) throws InterruptedException {
    List<Work<Observation, RuntimeException>> looks =
        gang.nodes().stream()
            .<Work<Observation, RuntimeException>>map(node -> () -> look(gang, node))
            .toList();
    List<Observation> looked = tasks.all("observe", looks);
    List<Integer> lost =
        looked.stream()
            .filter(each -> each instanceof Observation.Partly)
            .flatMap(each -> ((Observation.Partly) each).lost().stream())
            .toList();
    if (lost.size() == gang.nodes().size()) {
      return new Observation.Gone(noAgent(lost));
    }
    Optional<Observation> unknown =
        looked.stream().filter(each -> each instanceof Observation.CannotTell).findFirst();
    if (unknown.isPresent()) {
      return unknown.get();
    }
    return lost.isEmpty() ? new Observation.Exists() : new Observation.Partly(lost, noAgent(lost));
  }

  private Observation look(Gang gang, NodeInfo node) throws InterruptedException {
    Optional<Host> host = place.host(node.host());
    if (host.isEmpty()) {
      return new Observation.CannotTell(node.host() + " is not among the hosts any more");
    }
    try {
      agents.control(host.get().machine(), gang.id(), node.index(), Json.object("do", "status"));
      return new Observation.Exists();
    } catch (GpushException failed) {
      return failed.failure() instanceof AgentFailure.NotThere
          ? new Observation.Partly(List.of(node.index()), noAgent(List.of(node.index())))
          : new Observation.CannotTell("node " + node.index() + ": " + FailureWords.of(failed));
    }
  }

  private static String noAgent(List<Integer> lost) {
    return "no agent any more on " + new Observation.Partly(lost, "").nodes();
  }

  @Override
  public void renew(Gang gang, LeaseTerms terms) {
    Json.Obj renew = terms.json().with("do", "renew");
    List<Work<Boolean, RuntimeException>> questions =
        gang.nodes().stream()
            .<Work<Boolean, RuntimeException>>map(node -> () -> renewed(gang, node, renew))
            .toList();
    if (uninterrupted(() -> tasks.all("renew", questions)).stream().noneMatch(is -> is)) {
      throw new GpushException(new AgentFailure.NotThere(gang.id().text(), 0));
    }
  }

  /** False for a node that is lost: the others are renewed all the same. */
  private boolean renewed(Gang gang, NodeInfo node, Json.Obj renew) throws InterruptedException {
    try {
      agents.control(host(gang, node.index()).machine(), gang.id(), node.index(), renew);
      return true;
    } catch (GpushException failed) {
      if (failed.failure() instanceof AgentFailure.NotThere) {
        return false;
      }
      throw failed;
    }
  }

  private Host host(Gang gang, int node) {
    String name =
        gang.nodes().stream()
            .filter(each -> each.index() == node)
            .findFirst()
            .map(NodeInfo::host)
            .orElseThrow(() -> new IllegalArgumentException("no node " + node + " in " + gang));
    return place
        .host(name)
        .orElseThrow(
            () ->
                new GpushException(
                    new BackendFailure.Unavailable(
                        place.name(), name + " is not among its hosts any more", "gpush config")));
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
    var gangs = new LinkedHashMap<GangId, TreeMap<Integer, Json>>();
    for (List<Json> statuses : uninterrupted(() -> tasks.all("discover", questions))) {
      for (Json status : statuses) {
        String gang = status.text("gang").orElse("");
        if (status.text("owner").orElse("").equals(owner) && gang.matches(GANG_ID)) {
          gangs
              .computeIfAbsent(new GangId(gang), _ -> new TreeMap<>())
              .put(HostAgents.info(status).index(), status);
        }
      }
    }
    var found = new ArrayList<Discovered>();
    gangs.forEach((gang, nodes) -> found.add(discovered(gang, List.copyOf(nodes.values()))));
    return found;
  }

  private List<Json> listed(Host host) {
    try {
      return agents.list(host.machine());
    } catch (IOException | GpushException silent) {
      return List.of();
    }
  }

  private Discovered discovered(GangId gang, List<Json> nodes) {
    Json first = nodes.getFirst();
    return new Discovered(
        new Gang(gang, place.name(), nodes.stream().map(HostAgents::info).toList(), ""),
        first.text("name").orElse(""),
        first.text("owner").orElse(""),
        first.text("holder").orElse(""),
        first.object("request").number("nodes").orElse(-1L) == nodes.size());
  }

  @Override
  public Pipe spawn(Gang gang, int node, List<String> arguments) throws IOException {
    return host(gang, node).machine().spawn(arguments);
  }

  @Override
  public List<String> interpreters(Gang gang) {
    return HostAgents.INTERPRETERS;
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

  /** For what cannot say that it was interrupted: the flag stays, and the caller gets a failure. */
  private <T> T uninterrupted(Work<T, RuntimeException> work) {
    try {
      return work.run();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new GpushException(new BackendFailure.ReserveFailed(place.name(), "interrupted"), stop);
    }
  }
}
