package dev.gpush.backends.local;

import dev.gpush.backends.hosts.AgentCalls;
import dev.gpush.backends.hosts.FailureWords;
import dev.gpush.backends.hosts.GangRelease;
import dev.gpush.backends.hosts.HostGangs;
import dev.gpush.backends.local.GpuInventory.Stock;
import dev.gpush.core.agent.AgentProgram;
import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities;
import dev.gpush.core.backend.Capabilities.Capability;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * This machine as N nodes: without GPUs asked any number of CPU nodes, with GPUs as many as the
 * free ones make.
 *
 * <p>A node is an agent, detached, that holds the locks of its GPUs and ends with its lease. So
 * there is no state here: what exists is what agents answer. {@code LocalReservation} takes, {@code
 * GangRelease} gives back.
 */
public final class LocalBackend implements Backend {
  private final String name;
  private final LocalHost host;
  private final int mostNodes;
  private final Tasks tasks;
  private final GpuInventory inventory;
  private final HostLocks locks;
  private final LocalAgents agents;
  private final HostGangs gangs;

  /**
   * One without settings of its own.
   *
   * @param lockFolder of the GPU locks: the same for all users of the machine
   */
  public LocalBackend(
      String name, LocalHost host, AgentProgram agent, Path lockFolder, Tasks tasks) {
    this(name, host, agent, lockFolder, GangRequest.MAX_NODES, tasks);
  }

  /** Set, local nodes are linked through relays as all others are: for finding faults there. */
  static final String RELAY = "GPUSH_RELAY";

  private LocalBackend(
      String name,
      LocalHost host,
      AgentProgram agent,
      Path lockFolder,
      int mostNodes,
      Tasks tasks) {
    this.name = name;
    this.host = host;
    this.mostNodes = mostNodes;
    this.tasks = tasks;
    var question = new Question(host, tasks);
    this.inventory = new GpuInventory(question);
    this.locks = new HostLocks(question, lockFolder);
    this.agents = new LocalAgents(host, agent, tasks);
    this.gangs = new HostGangs(name, agents, tasks);
  }

  /**
   * As a block of the configuration wants it.
   *
   * @param lockFolder where the block does not say
   */
  public static LocalBackend of(
      BackendConfig config, LocalHost host, AgentProgram agent, Path lockFolder, Tasks tasks) {
    long most = config.values().number("nodes").orElse((long) GangRequest.MAX_NODES);
    Path folder = config.values().text("locks").map(Path::of).orElse(lockFolder);
    return new LocalBackend(config.name(), host, agent, folder, Math.toIntExact(most), tasks);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String kind() {
    return "local";
  }

  @Override
  public Capabilities capabilities() {
    return Capabilities.of(Capability.KEPT_FILES);
  }

  @Override
  public String describe() {
    Stock stock = gangs.uninterrupted(() -> inventory.stock(agents.environment(Map.of())));
    String gpus = stock.gpus().isEmpty() ? "no GPUs" : counted(stock.gpus());
    String problem = stock.problem().isEmpty() ? "" : " (" + stock.problem() + ")";
    return "this machine: " + host.cpus() + " CPUs, " + gpus + problem;
  }

  /** "8 × H100", "1 × A100, 1 × T4". */
  private static String counted(List<Gpu> gpus) {
    var counts = new LinkedHashMap<String, Integer>();
    gpus.forEach(gpu -> counts.merge(gpu.model(), 1, Integer::sum));
    var words = new ArrayList<String>();
    counts.forEach((model, count) -> words.add(count + " × " + model));
    return String.join(", ", words);
  }

  @Override
  public Plan plan(GangRequest request) {
    if (!host.isLinux()) {
      return new Plan.Never("the local backend needs Linux", List.of());
    }
    if (request.nodes() > mostNodes) {
      return new Plan.Never(
          "backend " + name + " is configured for at most " + mostNodes + " nodes",
          List.of("--nodes " + mostNodes));
    }
    return request.gpus().isNone()
        ? new Plan.Now(request.nodes() + (request.nodes() == 1 ? " CPU node" : " CPU nodes"))
        : gangs.uninterrupted(() -> gpuPlan(request));
  }

  private Plan gpuPlan(GangRequest request) throws InterruptedException {
    Map<String, String> environment = agents.environment(request.inherit());
    Stock stock = inventory.stock(environment);
    List<Gpu> gpus = matching(stock.gpus(), request);
    int wanted = request.nodes() * request.gpus().count();
    if (gpus.size() < wanted) {
      return never(request, gpus.size(), stock.problem());
    }
    Map<String, HostLocks.Holder> holders = locks.holders(gpus, environment);
    if (gpus.size() - holders.size() >= wanted) {
      return new Plan.Now(wanted + " of " + gpus.size() + " GPUs");
    }
    List<String> who = holders.values().stream().map(HostLocks.Holder::words).distinct().toList();
    String reason = holders.size() + " of " + gpus.size() + " GPUs are held";
    return new Plan.Later(reason, Optional.empty(), who);
  }

  private static Plan.Never never(GangRequest request, int has, String problem) {
    String model = request.gpus().model().map(wanted -> wanted + " ").orElse("");
    int wanted = request.nodes() * request.gpus().count();
    String found =
        has == 0
            ? "this machine has no " + model + "GPU"
            : "this machine has " + has + " " + model + "GPUs, " + wanted + " are asked for";
    var works = new ArrayList<String>();
    if (has >= request.gpus().count()) {
      works.add("--nodes " + has / request.gpus().count() + " --gpus " + request.gpus());
    }
    works.add("--nodes " + request.nodes() + " --gpus 0");
    return new Plan.Never(problem.isEmpty() ? found : found + " (" + problem + ")", works);
  }

  static List<Gpu> matching(List<Gpu> gpus, GangRequest request) {
    String wanted = request.gpus().model().orElse("").toLowerCase(Locale.ROOT);
    return gpus.stream()
        .filter(gpu -> gpu.model().toLowerCase(Locale.ROOT).contains(wanted))
        .toList();
  }

  @Override
  public Gang reserve(GangRequest request) throws InterruptedException {
    return new LocalReservation(name, host, agents, inventory, locks, release(), tasks, request)
        .take(() -> plan(request));
  }

  @Override
  public Observation observe(Gang gang) {
    return gangs.uninterrupted(() -> look(gang));
  }

  private Observation look(Gang gang) throws InterruptedException {
    Map<Integer, Json> listed;
    try {
      listed = agents.of(gang.id());
    } catch (IOException | GpushException failed) {
      return new Observation.CannotTell(FailureWords.of(failed));
    }
    if (gang.nodes().isEmpty()) {
      return listed.isEmpty()
          ? new Observation.Gone("no agent of this gang")
          : new Observation.Exists();
    }
    // What is not listed may only be slow, or its folder gone and its name still there.
    return gangs.observe(
        gang, gang.nodes().stream().filter(node -> !listed.containsKey(node.index())).toList());
  }

  @Override
  public void renew(Gang gang, LeaseTerms terms) {
    gangs.renew(gang, terms);
  }

  @Override
  public List<String> release(Gang gang, Duration limit) throws InterruptedException {
    return release().all(gang, limit);
  }

  private GangRelease release() {
    var resources = new LocalResources(host.home().resolve("nodes"), agents, inventory, locks);
    return new GangRelease(name, agents, LocalResources.BETWEEN_LOOKS, resources, tasks);
  }

  @Override
  public List<Discovered> discover(String owner) {
    return gangs.discovered(owner, gangs.uninterrupted(agents::list));
  }

  @Override
  public Optional<Pipe> straight(Gang gang, int node) {
    return host.environment().getOrDefault(RELAY, "").isEmpty()
        ? NodeSocket.of(gang.id(), node).connect()
        : Optional.empty();
  }

  @Override
  public Pipe spawn(Gang gang, int node, List<String> arguments) throws IOException {
    return host.spawn(arguments, agents.environment(Map.of()));
  }

  @Override
  public Map<String, String> inherited(Map<String, String> clientEnvironment) {
    return LocalVariables.inherited(clientEnvironment);
  }

  @Override
  public List<String> interpreters(Gang gang) {
    return AgentCalls.INTERPRETERS;
  }
}
