package dev.gpush.backends.hosts.rack;

import dev.gpush.backends.hosts.rack.HostAgents.Listed;
import dev.gpush.backends.hosts.rack.HostChoice.Seat;
import dev.gpush.backends.hosts.rack.Survey.Slot;
import dev.gpush.backends.remote.RollBack;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.gang.PeerSecret;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * One reservation: all nodes or none.
 *
 * <p>Locks are ordered: nodes that hold locks are started one after the other in the inventory's
 * order, none waits for a lock. A request that meets another's lock releases everything it took and
 * tries again with what is free after a moment. Of several requests for the same hosts or GPUs the
 * one that holds the highest host always progresses; if all locks were taken at once, two gangs
 * would take from each other and both fail. Nodes without locks conflict with nothing and are
 * started together. An interrupt is noticed between two starts: an agent that comes up after the
 * rollback would stay.
 */
public final class GangReservation {
  /** Somebody may take a host between the look and the grab; after so many times we are unlucky. */
  private static final int TRIES = 8;

  private static final int MOST_PAUSE_MILLIS = 400;

  /** Nodes that start at the same time on one machine: each start is a Python process. */
  private static final int AT_ONCE = 8;

  private static final Duration ROLLBACK_LIMIT = Duration.ofSeconds(60);

  private final Rack rack;
  private final HostAgents agents;
  private final Surveys surveys;
  private final GangRelease release;
  private final Tasks tasks;
  private final SecureRandom random;
  private final GangRequest request;
  private final PeerSecret secret;
  private final HostChoice choice;

  /** Hosts that could not be asked, and why. */
  private final Map<Host, GpushException> silent = new LinkedHashMap<>();

  /** Of a gang on the hosts of a rack, as the request's client sees them. */
  public GangReservation(
      Rack rack,
      HostAgents agents,
      Surveys surveys,
      GangRelease release,
      Tasks tasks,
      SecureRandom random,
      GangRequest request) {
    this.rack = rack.forClient(request.variables().inherited());
    this.agents = agents;
    this.surveys = surveys;
    this.release = release;
    this.tasks = tasks;
    this.random = random;
    this.request = request;
    this.secret = PeerSecret.random(random);
    this.choice = new HostChoice(rack.name(), rack.shape(), request.nodes(), request.gpus());
  }

  /** Takes what the hosts have; what an earlier try has left is part of it. */
  public Gang take() throws InterruptedException {
    boolean done = false;
    var nodes = new TreeMap<Integer, NodeInfo>();
    try {
      nodes.putAll(running());
      if (nodes.isEmpty()) {
        requireRoom();
      }
      if (nodes.size() < request.nodes()) {
        shareSecret(nodes);
        startMissing(nodes);
      }
      done = true;
      return gang(nodes);
    } catch (IOException broken) {
      throw new GpushException(
          new BackendFailure.ReserveFailed(rack.name(), String.valueOf(broken.getMessage())),
          broken);
    } finally {
      if (!done && !nodes.isEmpty()) {
        // Agents that stay end by themselves, because nobody claims them.
        RollBack.quietly(() -> release.all(gang(nodes), ROLLBACK_LIMIT));
      }
    }
  }

  private void requireRoom() {
    Optional<Plan.Never> never = rack.never(request);
    if (never.isPresent()) {
      throw HostGangs.refusal(rack.name(), never.get());
    }
  }

  private Gang gang(Map<Integer, NodeInfo> nodes) {
    return new Gang(request.gang(), rack.name(), List.copyOf(nodes.values()), "");
  }

  /**
   * What an earlier try has left. A host that cannot be asked is passed over: if it has one of our
   * agents, nobody will claim that, and it ends by itself.
   */
  private Map<Integer, NodeInfo> running() throws InterruptedException {
    // The plan has just passed over the late ones; so would this after its long wait.
    List<Host> prompt = rack.hosts().stream().filter(host -> !surveys.isLate(host)).toList();
    var nodes = new TreeMap<Integer, NodeInfo>();
    for (Listed each : agents.listed(prompt)) {
      each.silent().ifPresent(reason -> silent.put(each.host(), reason));
      each.of(request.gang()).stream()
          .map(HostAgents::info)
          .forEach(info -> nodes.putIfAbsent(info.index(), info));
    }
    return nodes;
  }

  /** Of the hosts that have answered before: waiting for the others once is enough. */
  private Surveys.Result survey(Predicate<List<Survey>> isEnough) throws InterruptedException {
    Surveys.Result result =
        surveys.of(
            rack.hosts().stream().filter(host -> !silent.containsKey(host)).toList(),
            request.gpus(),
            isEnough);
    var all = new ArrayList<>(result.silent());
    silent.forEach((host, reason) -> all.add(new Surveys.Silent(host, reason)));
    return new Surveys.Result(result.surveys(), all);
  }

  /** What runs knows another secret, and who comes now only ours. */
  private void shareSecret(Map<Integer, NodeInfo> nodes) throws InterruptedException {
    for (NodeInfo node : nodes.values()) {
      agents.control(request.gang(), node, agents.peers(secret).with("do", "peers"));
    }
  }

  private void startMissing(NavigableMap<Integer, NodeInfo> nodes)
      throws IOException, InterruptedException {
    for (int attempt = 1; ; attempt++) {
      Map<Integer, NodeInfo> started = new TreeMap<>();
      Optional<AgentFailure.Held> met = start(seats(nodes), nodes, started);
      if (met.isEmpty()) {
        return;
      }
      release.all(gang(started), ROLLBACK_LIMIT);
      started.keySet().forEach(nodes::remove);
      if (attempt == TRIES) {
        throw new GpushException(
            new BackendFailure.Taken(
                rack.name(), "another request was faster", List.of(met.get().holder())));
      }
      Thread.sleep(1L + random.nextInt(MOST_PAUSE_MILLIS));
    }
  }

  /** For all nodes that are missing, or a failure that says who has them. */
  private List<Seat> seats(Map<Integer, NodeInfo> nodes) throws InterruptedException {
    var taken = nodes.values().stream().map(NodeInfo::host).collect(Collectors.toSet());
    int missing = request.nodes() - nodes.size();
    Surveys.Result result = survey(found -> choice.seats(found, missing, taken).isPresent());
    Optional<List<Seat>> seats = choice.seats(result.surveys(), missing, taken);
    if (seats.isPresent()) {
      return seats.get();
    }
    result.requireSomebody();
    throw HostGangs.refusal(rack.name(), choice.plan(result));
  }

  /** Who was in the way, if somebody was; what was started is in {@code started} and in nodes. */
  private Optional<AgentFailure.Held> start(
      List<Seat> seats, NavigableMap<Integer, NodeInfo> nodes, Map<Integer, NodeInfo> started)
      throws IOException, InterruptedException {
    int most = seats.stream().allMatch(seat -> seat.slots().isEmpty()) ? AT_ONCE : 1;
    for (int from = 0; from < seats.size(); from += most) {
      var some = new ArrayList<Work<Boolean, IOException>>();
      int index = 0;
      for (Seat seat : seats.subList(from, Math.min(from + most, seats.size()))) {
        while (nodes.containsKey(index)) {
          index++;
        }
        NodeInfo info = node(index, seat);
        // Before it starts: what fails half-way must be rolled back too.
        nodes.put(index, info);
        started.put(index, info);
        some.add(() -> started(seat, info));
      }
      try {
        finish(some);
      } catch (GpushException failed) {
        if (failed.failure() instanceof AgentFailure.Held held) {
          return Optional.of(held);
        }
        throw failed;
      }
    }
    return Optional.empty();
  }

  private boolean started(Seat seat, NodeInfo info) throws IOException {
    release.starting(request.gang(), info);
    agents.start(request, seat, info, secret);
    return true;
  }

  /** Waits until all starts have ended, well or badly; only then is an interruption told. */
  private void finish(List<Work<Boolean, IOException>> starts)
      throws IOException, InterruptedException {
    tasks.finishAll("start", starts);
  }

  private NodeInfo node(int index, Seat seat) {
    Survey survey = seat.survey();
    List<Slot> slots = seat.slots();
    return new NodeInfo(
        index,
        survey.host().name(),
        survey.address().isEmpty() ? survey.hostName() : survey.address(),
        seat.hasGpus() ? slots.stream().map(Slot::index).toList() : List.of("0"),
        seat.hasGpus() ? slots.getFirst().model() : "",
        survey.cpus(),
        survey.base() + "/" + request.gang() + "/" + index + "/" + request.requester().project());
  }
}
