package dev.gpush.backends.local;

import dev.gpush.core.agent.AgentProgram;
import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.Gang;
import dev.gpush.core.backend.GangId;
import dev.gpush.core.backend.GangRequest;
import dev.gpush.core.backend.LeaseTerms;
import dev.gpush.core.backend.NodeInfo;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Pipe;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * This machine as N nodes: without GPUs asked any number of CPU nodes, with GPUs as many as the free ones make.
 *
 * <p>A node is an agent, detached, that holds the locks of its GPUs and ends with its lease. So there is no state here: what exists is what
 * agents answer. Reserving starts all agents, each taking its locks without waiting; when one cannot, those that started are released and,
 * if somebody was only faster, the choice is made again.
 */
public final class LocalBackend implements Backend {
  /** The system's own Python first: the agent needs any, and shims of version managers are slow. */
  static final List<String> INTERPRETERS = List.of("/usr/bin/python3", "python3", "python");

  /** Somebody may take a GPU between the look and the grab; after so many times the machine is simply busy. */
  private static final int TRIES = 5;

  /** A control question to an agent on this machine takes milliseconds; one that does not answer hangs. */
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(20);

  private final String name;
  private final LocalHost host;
  private final AgentProgram agent;
  private final Tasks tasks;
  private final GpuInventory inventory;
  private final HostLocks locks;

  public LocalBackend(String name, LocalHost host, AgentProgram agent, Path lockFolder, Tasks tasks) {
    this.name = name;
    this.host = host;
    this.agent = agent;
    this.tasks = tasks;
    this.inventory = new GpuInventory(host);
    this.locks = new HostLocks(host, lockFolder);
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
  public String describe() {
    List<Gpu> gpus = inventory.gpus(environment(Map.of()));
    String slots = gpus.isEmpty() ? "no GPUs" : gpus.size() + " × " + gpus.getFirst().model();
    return "this machine: " + host.cpus() + " CPUs, " + slots;
  }

  @Override
  public Plan plan(GangRequest request) {
    if (!host.isLinux()) {
      return new Plan.Never("the local backend needs Linux", List.of());
    }
    if (request.gpus().isNone()) {
      return new Plan.Now(request.nodes() + " CPU nodes on this machine");
    }
    Map<String, String> environment = environment(request.inherit());
    List<Gpu> gpus = matching(inventory.gpus(environment), request);
    int wanted = request.nodes() * request.gpus().count();
    if (gpus.size() < wanted) {
      return never(request, gpus.size());
    }
    Map<String, String> holders = locks.holders(gpus, environment);
    return gpus.size() - holders.size() >= wanted
        ? new Plan.Now(wanted + " of " + gpus.size() + " GPUs of this machine")
        : new Plan.Later(
            holders.size() + " of " + gpus.size() + " GPUs are held", Optional.empty(), List.copyOf(holders.values()));
  }

  private Plan.Never never(GangRequest request, int has) {
    String model = request.gpus().model().map(wanted -> wanted + " ").orElse("");
    String reason =
        has == 0
            ? "this machine has no " + model + "GPU"
            : "this machine has " + has + " " + model + "GPUs, " + request.nodes() * request.gpus().count() + " are asked for";
    var works = new ArrayList<String>();
    if (has >= request.gpus().count()) {
      works.add("--nodes " + has / request.gpus().count() + " --gpus " + request.gpus());
    }
    works.add("--nodes " + request.nodes() + " without --gpus");
    return new Plan.Never(reason, works);
  }

  @Override
  public Gang reserve(GangRequest request) throws InterruptedException {
    GpushException last = new GpushException(new BackendFailure.ReserveFailed(name, "not tried"));
    for (int attempt = 0; attempt < TRIES; attempt++) {
      requireRoom(request);
      List<List<Gpu>> shares = shares(request);
      try {
        return start(request, shares);
      } catch (GpushException failed) {
        if (!(failed.failure() instanceof AgentFailure.Held)) {
          throw failed;
        }
        last = failed;
      }
    }
    throw last;
  }

  private void requireRoom(GangRequest request) {
    switch (plan(request)) {
      case Plan.Never(var reason, var works) -> throw new GpushException(new BackendFailure.NeverFits(name, reason, works));
      case Plan.Later(var reason, _, var holders) -> {
        if (existing(request.gang()).isEmpty()) {
          throw new GpushException(new BackendFailure.Taken(name, reason, holders));
        }
      }
      case Plan.Now _ -> {}
    }
  }

  /** Which GPUs each node gets: those that the first try already holds, else the free ones in order. */
  private List<List<Gpu>> shares(GangRequest request) {
    int count = request.gpus().count();
    var shares = new ArrayList<List<Gpu>>();
    if (count == 0) {
      for (int node = 0; node < request.nodes(); node++) {
        shares.add(List.of());
      }
      return shares;
    }
    Map<String, String> environment = environment(request.inherit());
    List<Gpu> all = matching(inventory.gpus(environment), request);
    Map<Integer, Json> running = existing(request.gang());
    Map<String, String> holders = locks.holders(all, environment);
    var free = new ArrayList<>(all.stream().filter(gpu -> !holders.containsKey(gpu.identity())).toList());
    for (int node = 0; node < request.nodes(); node++) {
      List<String> has = Optional.ofNullable(running.get(node)).map(status -> status.object("request").texts("gpus")).orElse(List.of());
      List<Gpu> share =
          has.isEmpty()
              ? List.copyOf(free.subList(0, Math.min(count, free.size())))
              : all.stream().filter(gpu -> has.contains(gpu.identity())).toList();
      if (share.size() < count) {
        throw new GpushException(new AgentFailure.Held("a GPU of this machine", "somebody who was faster"));
      }
      free.removeAll(share);
      shares.add(share);
    }
    return shares;
  }

  private Gang start(GangRequest request, List<List<Gpu>> shares) throws InterruptedException {
    var starts = new ArrayList<Future<Json>>();
    for (int node = 0; node < request.nodes(); node++) {
      int index = node;
      starts.add(tasks.fork("start-" + node, () -> startNode(request, index, shares.get(index))));
    }
    Optional<Throwable> failure = Optional.empty();
    boolean interrupted = false;
    for (Future<Json> start : starts) {
      boolean done = false;
      while (!done) {
        try {
          start.get();
          done = true;
        } catch (ExecutionException failed) {
          failure = failure.isPresent() ? failure : Optional.of(Optional.ofNullable(failed.getCause()).orElse(failed));
          done = true;
        } catch (InterruptedException stop) {
          // Every start must have ended before it can be rolled back: an agent that comes up later would stay.
          interrupted = true;
        }
      }
    }
    Gang gang = gang(request, shares);
    if (failure.isPresent() || interrupted) {
      rollBack(gang, interrupted);
      if (interrupted) {
        throw new InterruptedException();
      }
      throw Tasks.unchecked(failure.get());
    }
    return gang;
  }

  private void rollBack(Gang gang, boolean interrupted) throws InterruptedException {
    try {
      release(gang, ANSWER_LIMIT);
    } catch (GpushException stillThere) {
      // The caller reports the first failure; the agents that stay end by themselves, nobody claims them.
      if (interrupted) {
        throw new InterruptedException();
      }
    }
  }

  private Json startNode(GangRequest request, int node, List<Gpu> gpus) throws IOException {
    NodeInfo info = node(request, node, gpus);
    try {
      Files.createDirectories(Path.of(info.workspace()).getParent());
    } catch (IOException failed) {
      throw new GpushException(new AgentFailure.CannotWrite(info.workspace(), reason(failed)), failed);
    }
    String label = request.owner() + ", session " + request.session() + ", gang " + request.gang();
    Json.Obj start =
        Json.object(
            "owner", request.owner(),
            "holder", request.holder(),
            "gang", request.gang().text(),
            "node", node,
            "nodes", request.nodes(),
            "name", request.session(),
            "workspace", info.workspace(),
            "state", info.state(),
            "locks", gpus.stream().map(gpu -> Json.object("path", locks.file(gpu).toString(), "label", label)).toList(),
            "env", nodeEnvironment(request, info),
            "lease", request.lease().json(),
            "hold_only", true,
            "request",
                Json.object(
                    "nodes", request.nodes(), "info", info.json(), "gpus", gpus.stream().map(Gpu::identity).toList(), "gpu_request",
                    request.gpus().toString()));
    return ask(
        environment(request.inherit()), Json.object("mode", "start", "gang", request.gang().text(), "node", node, "start", start));
  }

  private Map<String, String> nodeEnvironment(GangRequest request, NodeInfo info) {
    var variables = new TreeMap<>(environment(request.inherit()));
    variables.putAll(request.environment());
    if (info.hasGpus()) {
      variables.put("CUDA_VISIBLE_DEVICES", String.join(",", info.slots()));
    }
    return variables;
  }

  private Gang gang(GangRequest request, List<List<Gpu>> shares) {
    var nodes = new ArrayList<NodeInfo>();
    for (int node = 0; node < request.nodes(); node++) {
      nodes.add(node(request, node, shares.get(node)));
    }
    return new Gang(request.gang(), name, nodes, "");
  }

  private NodeInfo node(GangRequest request, int node, List<Gpu> gpus) {
    Path workspace = host.home().resolve("nodes").resolve(request.gang().text()).resolve(Integer.toString(node)).resolve(request.project());
    List<String> slots = gpus.isEmpty() ? List.of("0") : gpus.stream().map(Gpu::index).toList();
    return new NodeInfo(
        node, host.name(), "127.0.0.1", slots, gpus.isEmpty() ? "" : gpus.getFirst().model(), host.cpus(), workspace.toString());
  }

  @Override
  public Observation observe(Gang gang) {
    var missing = new ArrayList<String>();
    for (NodeInfo node : gang.nodes()) {
      try {
        control(gang, node.index(), Json.object("do", "status"));
      } catch (GpushException failed) {
        if (!(failed.failure() instanceof AgentFailure.NotThere)) {
          return new Observation.CannotTell("node " + node.index() + ": " + failed.failure());
        }
        missing.add(Integer.toString(node.index()));
      }
    }
    return missing.isEmpty()
        ? new Observation.Exists()
        : new Observation.Gone("no agent any more on node " + String.join(", ", missing));
  }

  @Override
  public void renew(Gang gang, LeaseTerms terms) {
    Json.Obj renew = terms.json().with("do", "renew");
    for (NodeInfo node : gang.nodes()) {
      control(gang, node.index(), renew);
    }
  }

  @Override
  public List<String> release(Gang gang, Duration limit) throws InterruptedException {
    var releases = new ArrayList<Future<List<String>>>();
    for (NodeInfo node : gang.nodes()) {
      releases.add(tasks.fork("release-" + node.index(), () -> releaseNode(gang, node)));
    }
    var kept = new ArrayList<String>();
    Optional<String> problem = Optional.empty();
    for (Future<List<String>> release : releases) {
      try {
        kept.addAll(release.get(limit.toMillis(), TimeUnit.MILLISECONDS));
      } catch (ExecutionException failed) {
        problem = Optional.of(String.valueOf(failed.getCause()));
      } catch (TimeoutException hangs) {
        problem = Optional.of("an agent does not answer");
      } finally {
        release.cancel(true);
      }
    }
    if (problem.isPresent()) {
      throw new GpushException(new BackendFailure.NotReleased(name, gang.id().text(), problem.get()));
    }
    if (kept.isEmpty()) {
      removeEmptyFolders(gang);
    }
    return kept;
  }

  private List<String> releaseNode(Gang gang, NodeInfo node) throws IOException {
    Json answer;
    try {
      answer = control(gang, node.index(), Json.object("do", "release"));
    } catch (GpushException failed) {
      if (!(failed.failure() instanceof AgentFailure.NotThere)) {
        throw failed;
      }
      if (!Files.exists(Path.of(node.workspace())) && !Files.exists(Path.of(node.state()))) {
        return List.of();
      }
      // The agent was killed and could not clean up: another one does it, holding nothing.
      answer = restartToRelease(gang, node);
    }
    return answer.texts("kept").stream().map(path -> "node " + node.index() + ": " + path).toList();
  }

  private Json restartToRelease(Gang gang, NodeInfo node) throws IOException {
    Json.Obj start =
        Json.object(
            "owner", "", "holder", "", "gang", gang.id().text(), "node", node.index(), "nodes", gang.nodes().size(), "name", "",
            "workspace", node.workspace(), "state", node.state(), "locks", List.of(), "env", environment(Map.of()), "lease",
            new LeaseTerms(Optional.empty(), LeaseTerms.UNCLAIMED).json(), "hold_only", true, "request", Json.object());
    ask(environment(Map.of()), Json.object("mode", "start", "gang", gang.id().text(), "node", node.index(), "start", start));
    return control(gang, node.index(), Json.object("do", "release"));
  }

  /** The folders above the workspaces are ours and empty now; anything else in them stays. */
  private void removeEmptyFolders(Gang gang) {
    for (NodeInfo node : gang.nodes()) {
      removeIfEmpty(Optional.ofNullable(Path.of(node.workspace()).getParent()));
    }
    Path gangFolder = host.home().resolve("nodes").resolve(gang.id().text());
    removeIfEmpty(Optional.of(gangFolder));
    removeIfEmpty(Optional.ofNullable(gangFolder.getParent()));
  }

  private static void removeIfEmpty(Optional<Path> folder) {
    if (folder.isEmpty() || !Files.isDirectory(folder.get())) {
      return;
    }
    try (var entries = Files.newDirectoryStream(folder.get())) {
      if (!entries.iterator().hasNext()) {
        Files.delete(folder.get());
      }
    } catch (IOException notEmptyOrGone) {
      // Somebody made a file in it meanwhile: then it is not ours to remove.
    }
  }

  @Override
  public List<Discovered> discover(String owner) {
    var gangs = new LinkedHashMap<String, TreeMap<Integer, Json>>();
    for (Json agentStatus : list()) {
      if (agentStatus.text("owner").orElse("").equals(owner)) {
        gangs
            .computeIfAbsent(agentStatus.text("gang").orElse(""), _ -> new TreeMap<>())
            .put((int) (long) agentStatus.number("node").orElse(0L), agentStatus);
      }
    }
    var found = new ArrayList<Discovered>();
    gangs.forEach((gang, nodes) -> found.add(discovered(gang, nodes)));
    return found;
  }

  private Discovered discovered(String gang, TreeMap<Integer, Json> nodes) {
    Json first = nodes.firstEntry().getValue();
    var infos = nodes.values().stream().map(status -> NodeInfo.from(status.object("request").object("info"))).toList();
    return new Discovered(
        new Gang(new GangId(gang), name, infos, ""),
        first.text("name").orElse(""),
        first.text("owner").orElse(""),
        first.text("holder").orElse(""),
        first.object("request").number("nodes").orElse(-1L) == nodes.size());
  }

  @Override
  public Pipe spawn(Gang gang, int node, List<String> arguments) throws IOException {
    return host.spawn(arguments, environment(Map.of()));
  }

  @Override
  public Map<String, String> inherited(Map<String, String> clientEnvironment) {
    var taken = new TreeMap<>(clientEnvironment);
    taken.keySet().removeIf(key -> !LocalVariables.isInherited(key));
    return taken;
  }

  @Override
  public List<String> interpreters(Gang gang) {
    return INTERPRETERS;
  }

  private Map<Integer, Json> existing(GangId gang) {
    var nodes = new TreeMap<Integer, Json>();
    for (Json status : list()) {
      if (status.text("gang").orElse("").equals(gang.text())) {
        nodes.put((int) (long) status.number("node").orElse(0L), status);
      }
    }
    return nodes;
  }

  /** Agents of this home only: another GPUSH_HOME of the same user is another world. */
  private List<Json> list() {
    Json answer;
    try {
      answer = ask(environment(Map.of()), Json.object("mode", "list"));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    String home = host.home().resolve("nodes").toString() + "/";
    return answer.items("agents").stream()
        .filter(status -> status.object("request").object("info").text("workspace").orElse("").startsWith(home))
        .toList();
  }

  private Json control(Gang gang, int node, Json.Obj question) {
    Callable<Json> asking =
        () ->
            ask(
                environment(Map.of()),
                Json.object("mode", "control", "gang", gang.id().text(), "node", node, "control", question));
    Future<Json> answer = tasks.fork("control-" + node, asking);
    try {
      return answer.get(ANSWER_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException failed) {
      throw Tasks.unchecked(Optional.ofNullable(failed.getCause()).orElse(failed));
    } catch (TimeoutException hangs) {
      Failure died = new AgentFailure.Died("the agent of node " + node + " has not answered for " + ANSWER_LIMIT.toSeconds() + " s");
      throw new GpushException(died, hangs);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new GpushException(new AgentFailure.LinkOver(node, "interrupted"), stop);
    } finally {
      answer.cancel(true);
    }
  }

  private Json ask(Map<String, String> environment, Json.Obj header) throws IOException {
    try (Pipe pipe = host.spawn(agent.arguments(INTERPRETERS), environment)) {
      return agent.ask(pipe, header);
    }
  }

  /** The gateway's own identity and the client's paths over it. */
  private Map<String, String> environment(Map<String, String> inherit) {
    var variables = new TreeMap<String, String>();
    host.environment().forEach((key, value) -> {
      if (LocalVariables.isIdentity(key)) {
        variables.put(key, value);
      }
    });
    variables.putAll(inherited(inherit));
    variables.putIfAbsent("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    return variables;
  }

  private static List<Gpu> matching(List<Gpu> gpus, GangRequest request) {
    Optional<String> model = request.gpus().model();
    return gpus.stream().filter(gpu -> model.isEmpty() || gpu.model().toLowerCase(java.util.Locale.ROOT).contains(model.get().toLowerCase(java.util.Locale.ROOT))).toList();
  }

  private static String reason(IOException failed) {
    return failed.getMessage() == null ? failed.getClass().getSimpleName() : failed.getClass().getSimpleName() + " " + failed.getMessage();
  }
}
