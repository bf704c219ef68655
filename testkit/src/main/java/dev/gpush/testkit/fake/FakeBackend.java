package dev.gpush.testkit.fake;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities;
import dev.gpush.core.backend.Capabilities.Capability;
import dev.gpush.core.backend.Capabilities.Places;
import dev.gpush.core.backend.Capabilities.QueueOrder;
import dev.gpush.core.backend.Capabilities.RequestQueue;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.backend.Waiter;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.AgentFolder;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.gang.AgentStart;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.gang.PeerSecret;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.testkit.fake.FakeSite.Holding;
import dev.gpush.testkit.fake.FakeTrouble.Moment;
import dev.gpush.testkit.fake.FakeTrouble.Operation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * A backend in memory, for a {@link FakeSite}. Its commands are real processes of this machine;
 * with an agent given, every reserved node has a real one, so that links can be made.
 */
public final class FakeBackend implements Backend {
  private static final Capabilities KEPT_FILES = Capabilities.of(Capability.KEPT_FILES);

  private final String name;
  private final String kind;
  private final FakeSite site;
  private final Optional<AgentProgram> agent;
  private final Capabilities capabilities;
  private final boolean hasQueue;
  private final BooleanSupplier isAlive;
  private final boolean isGuarded;

  private FakeBackend(
      String name,
      String kind,
      FakeSite site,
      Optional<AgentProgram> agent,
      Capabilities capabilities,
      boolean hasQueue,
      BooleanSupplier isAlive,
      boolean isGuarded) {
    this.name = name;
    this.kind = kind;
    this.site = site;
    this.agent = agent;
    this.capabilities = capabilities;
    this.hasQueue = hasQueue;
    this.isAlive = isAlive;
    this.isGuarded = isGuarded;
  }

  /** Nodes that nothing runs on until something is spawned. */
  public static FakeBackend bare(String name, FakeSite site) {
    return new FakeBackend(
        name, "fake", site, Optional.empty(), KEPT_FILES, false, () -> true, false);
  }

  /** Nodes with a real agent each. */
  public static FakeBackend withAgents(String name, FakeSite site, AgentProgram agent) {
    return new FakeBackend(
        name, "fake", site, Optional.of(agent), KEPT_FILES, false, () -> true, false);
  }

  /**
   * As {@link #withAgents}, with a queue that outlives its gateways.
   *
   * @param isAlive false once the gateway is dead: it no longer rolls back
   */
  public static FakeBackend queueing(
      String name, FakeSite site, AgentProgram agent, BooleanSupplier isAlive) {
    return new FakeBackend(
        name, "fake", site, Optional.of(agent), KEPT_FILES, true, isAlive, false);
  }

  /** The same for the same site, with disks that end with the gang, as those of pods do. */
  public FakeBackend onPassingDisks() {
    return new FakeBackend(
        name, kind, site, agent, Capabilities.of(), hasQueue, isAlive, isGuarded);
  }

  /** The same for the same site, as the backend of this machine. */
  public FakeBackend local() {
    return new FakeBackend(name, "local", site, agent, capabilities, hasQueue, isAlive, isGuarded);
  }

  /** The same for the same site; an agent that is killed is started again. */
  public FakeBackend guarded() {
    return new FakeBackend(name, kind, site, agent, capabilities, hasQueue, isAlive, true);
  }

  /** The same for the same site, of a configuration that can lead to other sites. */
  public FakeBackend with(Places places) {
    return new FakeBackend(
        name,
        kind,
        site,
        agent,
        capabilities.with(Places.class, places),
        hasQueue,
        isAlive,
        isGuarded);
  }

  @Override
  public Capabilities capabilities() {
    return hasQueue
        ? capabilities.with(RequestQueue.class, this::resume).with(QueueOrder.class, site::ahead)
        : capabilities;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String kind() {
    return kind;
  }

  @Override
  public String describe() {
    return "pretended: " + site.size() + " GPUs";
  }

  @Override
  public List<String> explain() {
    return List.of("it is pretended");
  }

  @Override
  public Plan plan(GangRequest request) {
    heedless(Operation.PLAN, Moment.BEFORE);
    return fit(request);
  }

  private Plan fit(GangRequest request) {
    int wanted = FakeSite.wanted(request);
    if (wanted > site.size()) {
      return new Plan.Never(
          "there are " + site.size() + " GPUs, " + wanted + " are asked for",
          List.of("--nodes 1 --gpus " + site.size()));
    }
    if (wanted <= site.free()) {
      return new Plan.Now(wanted + " pretended GPUs");
    }
    return new Plan.Later("GPUs are held", Optional.of(Duration.ofMinutes(10)), holders());
  }

  private List<String> holders() {
    return site.holdings().stream()
        .map(holding -> holding.request().requester().session())
        .toList();
  }

  @Override
  public Gang reserve(GangRequest request, Waiter waiter) throws InterruptedException {
    boolean stays = false;
    try {
      if (fit(request) instanceof Plan.Never(var reason, var works)) {
        throw new GpushException(new BackendFailure.NeverFits(name, reason, works));
      }
      site.trouble().at(Operation.RESERVE, Moment.BEFORE);
      if (hasQueue) {
        site.submit(name, request, gang -> startAgents(gang, request));
      }
      Gang gang = hasQueue ? queued(request, waiter) : taken(request);
      site.trouble().at(Operation.RESERVE, Moment.AFTER);
      if (!hasQueue) {
        startAgents(gang, request);
      }
      stays = true;
      return gang;
    } catch (InterruptedException stop) {
      stays = hasQueue && waiter.leavesPlace();
      throw stop;
    } finally {
      endUnless(stays, request);
    }
  }

  private Gang resume(GangRequest request, Waiter waiter) throws InterruptedException {
    boolean stays = false;
    try {
      site.trouble().at(Operation.RESUME, Moment.BEFORE);
      Gang gang = queued(request, waiter);
      stays = true;
      return gang;
    } catch (InterruptedException stop) {
      stays = waiter.leavesPlace();
      throw stop;
    } catch (GpushException failed) {
      stays = failed.failure() instanceof BackendFailure.Unavailable;
      throw failed;
    } finally {
      endUnless(stays, request);
    }
  }

  private void endUnless(boolean stays, GangRequest request) {
    if (!stays && isAlive.getAsBoolean()) {
      Optional<Holding> half = site.find(request.gang());
      half.ifPresent(holding -> end(holding.gang()));
      site.drop(request.gang());
    }
  }

  private Gang taken(GangRequest request) {
    return site.take(name, request)
        .orElseThrow(
            () -> new GpushException(new BackendFailure.Taken(name, "GPUs are held", holders())));
  }

  private Gang queued(GangRequest request, Waiter waiter) throws InterruptedException {
    site.place(request.gang()).ifPresent(waiter::waits);
    return site.await(request.gang())
        .orElseThrow(
            () ->
                new GpushException(
                    new BackendFailure.ReserveFailed(name, "it was taken out of the queue")));
  }

  private void startAgents(Gang gang, GangRequest request) {
    if (agent.isEmpty()) {
      return;
    }
    PeerSecret secret = PeerSecret.random(new SecureRandom());
    for (NodeInfo node : gang.nodes()) {
      Json.Obj start =
          AgentStart.of(request, node)
              .with("env", environment(request, node))
              .with("peers", secret.onSameHost())
              .with("guard", isGuarded)
              .with("hold_only", true);
      ask(agent.get(), gang, node.index(), Json.object("mode", "start", "start", start));
    }
  }

  /** The node's own home, so that no startup files are read. */
  private static Json.Obj environment(GangRequest request, NodeInfo node) {
    Json.Obj variables =
        Json.object("HOME", Path.of(node.workspace()).resolveSibling("").toString());
    for (String name : List.of("PATH", "USER", "LANG")) {
      String value = System.getenv(name);
      variables = value == null ? variables : variables.with(name, value);
    }
    for (var variable : request.environment().entrySet()) {
      variables = variables.with(variable.getKey(), variable.getValue());
    }
    return variables;
  }

  @Override
  public List<String> interpreters(Gang gang) {
    return Interpreters.one();
  }

  private Json ask(AgentProgram program, Gang gang, int node, Json.Obj header) {
    Json.Obj whole =
        AgentFolder.keepingCompiled(header, System.getenv())
            .with("gang", gang.id().text())
            .with("node", node);
    try (Pipe pipe = start(program.arguments(interpreters(gang)))) {
      return program.ask(pipe, whole);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  @Override
  public Observation observe(Gang gang) {
    heedless(Operation.OBSERVE, Moment.BUG);
    try {
      heedless(Operation.OBSERVE, Moment.BEFORE);
    } catch (GpushException failed) {
      return new Observation.CannotTell(String.valueOf(failed.getMessage()));
    }
    Optional<Holding> holding = site.find(gang.id());
    if (site.waiting().stream().anyMatch(request -> request.gang().equals(gang.id()))) {
      return new Observation.Exists();
    }
    if (holding.isEmpty()) {
      return new Observation.Gone("nothing is held under this name");
    }
    List<Integer> dead = List.copyOf(holding.get().dead());
    String reason = "dead nodes: " + dead;
    if (dead.size() == holding.get().gang().nodes().size()) {
      return new Observation.Gone(reason);
    }
    return dead.isEmpty() ? new Observation.Exists() : new Observation.Partly(dead, reason);
  }

  @Override
  public void renew(Gang gang, LeaseTerms terms) {
    heedless(Operation.RENEW, Moment.BEFORE);
    site.renew(gang.id(), terms);
    if (agent.isPresent()) {
      Json.Obj renew = terms.json().with("do", "renew");
      Set<Integer> dead = site.find(gang.id()).map(Holding::dead).orElse(new TreeSet<>());
      for (NodeInfo node : gang.nodes()) {
        if (!dead.contains(node.index())) {
          ask(agent.get(), gang, node.index(), Json.object("mode", "control", "control", renew));
        }
      }
    }
    heedless(Operation.RENEW, Moment.AFTER);
  }

  @Override
  public List<String> release(Gang gang, Duration limit) throws InterruptedException {
    try {
      site.trouble().at(Operation.RELEASE, Moment.BEFORE);
      Gang known = site.find(gang.id()).map(Holding::gang).orElse(gang);
      List<String> kept = end(known);
      site.trouble().at(Operation.RELEASE, Moment.AFTER);
      return kept;
    } catch (GpushException failed) {
      String reason = String.valueOf(failed.getMessage());
      throw new GpushException(
          new BackendFailure.NotReleased(name, gang.id().text(), reason), failed);
    }
  }

  private List<String> end(Gang gang) {
    var kept = new ArrayList<String>();
    for (NodeInfo node : gang.nodes()) {
      agent.ifPresent(program -> endAgent(program, gang, node.index()));
      List<Path> foreign = foreign(node);
      for (Path file : foreign) {
        kept.add("node " + node.index() + ": " + file);
      }
      if (!capabilities.keepsFiles()) {
        foreign.forEach(FakeBackend::delete);
        foreign(node);
      }
    }
    site.drop(gang.id());
    return kept;
  }

  private void endAgent(AgentProgram program, Gang gang, int node) {
    try {
      Json.Obj release = Json.object("do", "release");
      ask(program, gang, node, Json.object("mode", "control", "control", release));
    } catch (GpushException failed) {
      if (!(failed.failure() instanceof AgentFailure.NotThere)) {
        throw failed;
      }
    }
  }

  /** What lies in the workspace; empty folders up to the gang's own are removed. */
  private static List<Path> foreign(NodeInfo node) {
    Path workspace = Path.of(node.workspace());
    var files = new ArrayList<Path>();
    try {
      if (Files.exists(workspace)) {
        try (Stream<Path> walk = Files.walk(workspace)) {
          for (Path path : walk.sorted(Comparator.reverseOrder()).toList()) {
            if (!Files.isDirectory(path)) {
              files.add(path);
            } else {
              deleteIfEmpty(path);
            }
          }
        }
      }
      Path parent = workspace.resolveSibling(".").normalize();
      deleteIfEmpty(parent);
      deleteIfEmpty(parent.resolveSibling(".").normalize());
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return files;
  }

  private static void delete(Path file) {
    try {
      Files.delete(file);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static void deleteIfEmpty(Path folder) {
    try {
      Files.deleteIfExists(folder);
    } catch (IOException notEmpty) {
      // Another file is in it.
    }
  }

  @Override
  public List<Discovered> discover(String owner) {
    heedless(Operation.DISCOVER, Moment.BEFORE);
    if (!site.isListed()) {
      return List.of();
    }
    Stream<Discovered> waiting =
        site.waiting().stream()
            .filter(request -> request.requester().owner().equals(owner))
            .map(
                request ->
                    new Discovered(
                        new Gang(request.gang(), name, List.of(), "waits"),
                        request.requester().session(),
                        request.requester().owner(),
                        request.requester().holder(),
                        false));
    Stream<Discovered> held =
        site.holdings().stream()
            .filter(holding -> holding.request().requester().owner().equals(owner))
            .map(FakeBackend::discovered);
    return Stream.concat(waiting, held).toList();
  }

  private static Discovered discovered(Holding holding) {
    Gang all = holding.gang();
    List<NodeInfo> alive =
        all.nodes().stream().filter(node -> !holding.dead().contains(node.index())).toList();
    GangRequest request = holding.request();
    return new Discovered(
        new Gang(all.id(), all.backend(), alive, all.detail()),
        request.requester().session(),
        request.requester().owner(),
        request.requester().holder(),
        holding.dead().isEmpty());
  }

  @Override
  public Pipe spawn(Gang gang, int node, List<String> arguments) throws IOException {
    try {
      heedless(Operation.SPAWN, Moment.BEFORE);
    } catch (GpushException failed) {
      throw new IOException(failed);
    }
    if (site.trouble().isAway(node)) {
      throw new IOException("node " + node + " does not answer");
    }
    boolean isAlive =
        site.find(gang.id()).map(holding -> !holding.dead().contains(node)).orElse(false);
    if (!isAlive) {
      throw new IOException("no node " + node + " of gang " + gang.id());
    }
    return start(arguments);
  }

  private static Pipe start(List<String> arguments) throws IOException {
    return ChildPipe.start(arguments);
  }

  /** For operations that cannot say that they were interrupted. */
  private void heedless(Operation operation, Moment moment) {
    try {
      site.trouble().at(operation, moment);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new GpushException(
          new BackendFailure.Unavailable(name, "interrupted", "try again"), stop);
    }
  }
}
