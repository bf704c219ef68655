package dev.gpush.backends.hosts;

import dev.gpush.backends.hosts.rack.FailureWords;
import dev.gpush.backends.hosts.rack.GangRelease;
import dev.gpush.backends.hosts.rack.GangReservation;
import dev.gpush.backends.hosts.rack.Host;
import dev.gpush.backends.hosts.rack.HostAgents;
import dev.gpush.backends.hosts.rack.HostChoice;
import dev.gpush.backends.hosts.rack.HostGangs;
import dev.gpush.backends.hosts.rack.Rack;
import dev.gpush.backends.hosts.rack.Survey;
import dev.gpush.backends.hosts.rack.Surveys;
import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities;
import dev.gpush.core.backend.Capabilities.AgentPipes;
import dev.gpush.core.backend.Capabilities.Capability;
import dev.gpush.core.backend.Capabilities.ClientVariables;
import dev.gpush.core.backend.Capabilities.Logins;
import dev.gpush.core.backend.Capabilities.Places;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.backend.Waiter;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.machine.Gate;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Hosts that no scheduler manages, as one place: a rack behind ssh, or this machine as a rack of
 * one. A node is an agent that holds the locks of its GPUs and ends with its lease, so there is no
 * state here: what exists is what agents and locks on the hosts say.
 */
public final class HostsBackend implements Backend {
  private final Rack rack;
  private final SecureRandom random;
  private final Tasks tasks;
  private final HostAgents agents;
  private final HostGangs gangs;
  private final Surveys surveys;
  private final GangRelease release;
  private final Optional<Places> places;

  public HostsBackend(Rack rack, AgentProgram agent, SecureRandom random, Tasks tasks) {
    this(rack, agent, random, tasks, Optional.empty());
  }

  /** Of a configuration that can lead elsewhere later. */
  public HostsBackend(
      Rack rack, AgentProgram agent, SecureRandom random, Tasks tasks, Places places) {
    this(rack, agent, random, tasks, Optional.of(places));
  }

  private HostsBackend(
      Rack rack, AgentProgram agent, SecureRandom random, Tasks tasks, Optional<Places> places) {
    this.rack = rack;
    this.random = random;
    this.tasks = tasks;
    this.agents = new HostAgents(agent, rack, tasks);
    this.gangs = new HostGangs(rack, agents);
    this.surveys = new Surveys(rack, tasks);
    this.release = new GangRelease(rack, agents, surveys, tasks);
    this.places = places;
  }

  @Override
  public String name() {
    return rack.name();
  }

  @Override
  public String kind() {
    return rack.kind();
  }

  @Override
  public Capabilities capabilities() {
    Capabilities all =
        Capabilities.of(Capability.KEPT_FILES)
            .with(
                AgentPipes.class,
                (gang, node) -> rack.hostOf(gang, node).openAgentPipe(gang.id(), node))
            .with(Logins.class, this::gates)
            .with(ClientVariables.class, client -> rack.hosts().getFirst().inherited(client));
    return places.map(port -> all.with(Places.class, port)).orElse(all);
  }

  @Override
  public String describe() {
    requireFit();
    Surveys.Result result = gangs.answer(() -> surveys.all(rack.hosts()));
    if (result.surveys().isEmpty()) {
      throw result.silent().getFirst().reason();
    }
    return switch (rack.shape()) {
      case Rack.Shape.OneMachine _ -> thisMachine(result.surveys().getFirst());
      case Rack.Shape.HostPerNode _ -> hosts(result);
    };
  }

  /** On an unfit machine even the question whether Python is there may disturb the user. */
  private void requireFit() {
    Optional<String> unfit = rack.unfit();
    if (unfit.isPresent()) {
      throw new GpushException(
          new BackendFailure.Unavailable(rack.name(), unfit.get(), Rack.ELSEWHERE));
    }
  }

  private static String thisMachine(Survey survey) {
    String problem = survey.problem().isEmpty() ? "" : " (" + survey.problem() + ")";
    return "this machine: " + survey.cpus() + " CPUs, " + Survey.counted(survey.slots()) + problem;
  }

  private String hosts(Surveys.Result result) {
    var slots = result.surveys().stream().flatMap(survey -> survey.slots().stream()).toList();
    long gpus = slots.stream().filter(Survey.Slot::isGpu).count();
    long free = slots.stream().filter(Survey.Slot::isGpu).filter(Survey.Slot::isFree).count();
    var words = new StringBuilder(rack.counted() + ": ");
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
    Optional<Plan.Never> never = rack.never(request);
    if (never.isPresent()) {
      return never.get();
    }
    var choice = new HostChoice(rack.name(), rack.shape(), request.nodes(), request.gpus());
    List<Host> hosts = rack.forClient(request.variables().inherited()).hosts();
    Surveys.Result result =
        gangs.answer(
            () ->
                surveys.of(
                    hosts,
                    request.gpus(),
                    found -> choice.seats(found, request.nodes(), Set.of()).isPresent()));
    Plan plan = choice.plan(result);
    if (!(plan instanceof Plan.Now)) {
      result.requireSomebody();
    }
    return plan;
  }

  @Override
  public Gang reserve(GangRequest request, Waiter waiter) throws InterruptedException {
    requireFit();
    return new GangReservation(rack, agents, surveys, release, tasks, random, request).take();
  }

  @Override
  public Observation observe(Gang gang) {
    return gangs.observe(gang);
  }

  @Override
  public void renew(Gang gang, LeaseTerms terms) {
    gangs.renew(gang, terms);
  }

  @Override
  public List<String> release(Gang gang, Duration limit) throws InterruptedException {
    return release.all(gang, limit);
  }

  @Override
  public List<Discovered> discover(String owner) {
    return rack.unfit().isPresent() ? List.of() : gangs.discover(owner);
  }

  @Override
  public Pipe spawn(Gang gang, int node, List<String> arguments) throws IOException {
    return rack.hostOf(gang, node).machine().spawn(arguments);
  }

  @Override
  public List<String> interpreters(Gang gang) {
    return Rack.INTERPRETERS;
  }

  private List<Gate> gates() {
    return rack.hosts().stream().flatMap(host -> host.gate().stream()).toList();
  }

  @Override
  public List<String> explain() {
    var ways = new LinkedHashMap<String, List<String>>();
    for (Host host : rack.hosts()) {
      host.explain()
          .ifPresent(way -> ways.computeIfAbsent(way, _ -> new ArrayList<>()).add(host.name()));
    }
    var lines = new ArrayList<String>();
    ways.forEach((way, names) -> lines.add(String.join(", ", names) + " by " + way));
    return lines;
  }
}
