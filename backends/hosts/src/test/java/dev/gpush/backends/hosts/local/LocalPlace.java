package dev.gpush.backends.hosts.local;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.hosts.HostsBackend;
import dev.gpush.backends.hosts.RackSettings;
import dev.gpush.backends.hosts.rack.Rack;
import dev.gpush.backends.hosts.rack.Survey;
import dev.gpush.backends.hosts.rack.Surveys;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.gang.AgentFolder;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.BackendPlace;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * One GPUSH_HOME on a machine whose GPUs are those that a script in a temporary folder, as
 * nvidia-smi, prints. Agents, locks and processes are real.
 */
final class LocalPlace implements BackendPlace {
  static final int GPUS = 8;

  private final int gpus;
  private final Path home;
  private final Path programs;
  private final Path locks;
  private final Tasks tasks;
  private final AgentImage agent;
  private final List<String> prefix;
  private final SecureRandom random = new SecureRandom();
  private final Queue<GangRequest> asked = new ConcurrentLinkedQueue<>();

  private LocalPlace(int gpus, Path home, Path programs, Path locks, List<String> prefix) {
    this.gpus = gpus;
    this.home = home;
    this.programs = programs;
    this.locks = locks;
    this.prefix = prefix;
    this.tasks = Tasks.named("local-place", (_, _) -> {});
    this.agent = new AgentImage(tasks, random);
  }

  /** A home in a folder; homes with the same machine folder share GPUs and locks. */
  static LocalPlace of(Path home, Path machine) throws IOException {
    return asUser(home, machine, List.of());
  }

  /** As {@link #of(Path, Path)}, on a machine with this number of GPUs. */
  static LocalPlace of(int gpus, Path home, Path machine) throws IOException {
    return new LocalPlace(
        gpus,
        Files.createDirectories(home),
        programs(gpus, machine),
        machine.resolve("locks"),
        List.of());
  }

  /** As another user: every command starts with the words that make it so. */
  static LocalPlace asUser(Path home, Path machine, List<String> prefix) throws IOException {
    return new LocalPlace(
        GPUS,
        Files.createDirectories(home),
        programs(GPUS, machine),
        machine.resolve("locks"),
        prefix);
  }

  /** The made-up tool; its GPUs have the same random names every time. */
  private static Path programs(int gpus, Path machine) throws IOException {
    Path folder = Files.createDirectories(machine.resolve("bin"));
    Path tool = folder.resolve("nvidia-smi");
    if (!Files.exists(tool)) {
      var random = new Random();
      var script = new StringBuilder("#!/bin/sh\ncat <<END\n");
      for (int gpu = 0; gpu < gpus; gpu++) {
        String id = "GPU-%08x-%04x".formatted(random.nextInt(), random.nextInt(65_536));
        script.append(gpu).append(", ").append(id).append(", NVIDIA H100 80GB HBM3\n");
      }
      install(tool, script + "END\n");
    }
    return folder;
  }

  static void install(Path tool, String script) throws IOException {
    Files.writeString(tool, script);
    Files.setPosixFilePermissions(tool, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  LocalHost host() {
    var path = programs + ":/usr/local/bin:/usr/bin:/bin";
    Map<String, String> environment = Map.of("PATH", path, "HOME", home.toString(), "USER", "me");
    var real = new SystemHost("here", 2, true, home, environment);
    return prefix.isEmpty() ? real : new OtherUser(real, prefix);
  }

  /** Starts everything through a command that becomes another user. */
  private record OtherUser(LocalHost real, List<String> prefix) implements LocalHost {
    @Override
    public String name() {
      return real.name();
    }

    @Override
    public int cpus() {
      return real.cpus();
    }

    @Override
    public boolean isLinux() {
      return real.isLinux();
    }

    @Override
    public Path home() {
      return real.home();
    }

    @Override
    public Map<String, String> environment() {
      return real.environment();
    }

    @Override
    public Pipe spawn(List<String> arguments, Map<String, String> environment) throws IOException {
      return real.spawn(Stream.concat(prefix.stream(), arguments.stream()).toList(), environment);
    }
  }

  @Override
  public HostsBackend backend() {
    return new HostsBackend(rack(), agent, random, tasks);
  }

  @Override
  public HostsBackend again() {
    return new HostsBackend(rack(), new AgentImage(tasks, random), random, tasks);
  }

  private Rack rack() {
    return rack(host(), Json.object("locks", locks.toString()));
  }

  static Rack rack(LocalHost host, Json.Obj values) {
    return RackSettings.local(new BackendConfig("local", "local", values, "built in"), host);
  }

  Path locks() {
    return locks;
  }

  Path programs() {
    return programs;
  }

  Path home() {
    return home;
  }

  @Override
  public GangRequest request(int nodes, LeaseTerms lease) {
    return request(nodes, "2", lease);
  }

  GangRequest request(int nodes, String gpus, LeaseTerms lease) {
    GangRequest request = BackendPlace.fresh(random, nodes, gpus, lease, Map.of());
    asked.add(request);
    return request;
  }

  @Override
  public int capacity() {
    return gpus / 2;
  }

  @Override
  public GangRequest never() {
    return request(gpus / 2 + 1, BackendContract.LONG);
  }

  @Override
  public List<String> slots(NodeInfo node) {
    return node.slots();
  }

  /** Only the agent and its guard: what they have started lives on, as after a crash. */
  @Override
  public void kill(Gang gang, int node) throws Exception {
    Json status = ask(gang, node, "status");
    long pid = status.number("pid").orElseThrow();
    status.number("guard").flatMap(ProcessHandle::of).ifPresent(ProcessHandle::destroyForcibly);
    ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    long start = System.nanoTime();
    while (isRunning(pid)) {
      assertTrue(System.nanoTime() - start < BackendContract.LIMIT.toNanos(), "does not die");
      LockSupport.parkNanos(1_000_000);
    }
  }

  Json ask(Gang gang, int node, String what) throws IOException {
    HostsBackend backend = backend();
    Json.Obj question = Json.object("do", what);
    return agent.ask(
        backend.spawn(gang, node, agent.arguments(backend.interpreters(gang))),
        Json.object(
            "mode", "control", "gang", gang.id().text(), "node", node, "control", question));
  }

  /** A process that nobody has waited for yet is dead. */
  private static boolean isRunning(long pid) {
    try {
      String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
      return !stat.substring(stat.lastIndexOf(')') + 2).startsWith("Z");
    } catch (IOException gone) {
      // Also in the middle of reading.
      return false;
    }
  }

  @Override
  public List<String> leftovers() throws Exception {
    var left = new ArrayList<String>();
    // Other programs name their sockets with any bytes.
    String sockets = Files.readString(Path.of("/proc/net/unix"), StandardCharsets.ISO_8859_1);
    for (GangRequest request : asked) {
      for (int node = 0; node < request.nodes(); node++) {
        agent(request.gang(), node, sockets, left);
      }
    }
    lockHolders(left);
    files(left);
    return left;
  }

  private void agent(GangId gang, int node, String sockets, List<String> left) throws IOException {
    String user = "gpush-" + Files.getAttribute(home, "unix:uid");
    String folder = AgentFolder.name(gang, node);
    for (Path base : NodeSocket.BASES) {
      for (String file : List.of(folder, folder + ".start")) {
        if (Files.exists(base.resolve(user).resolve(file))) {
          left.add("folder of the agent of " + gang + "/" + node);
        }
      }
    }
    if (sockets.contains("@" + user + "-" + folder)) {
      left.add("agent of " + gang + "/" + node);
    }
  }

  private void lockHolders(List<String> left) throws InterruptedException {
    Rack rack = rack();
    for (Survey.Slot slot : new Surveys(rack, tasks).ask(rack.hosts().getFirst()).slots()) {
      if (asked.stream().anyMatch(each -> each.gang().text().equals(slot.gang()))) {
        left.add("lock " + slot.lock());
      }
    }
  }

  private void files(List<String> left) throws IOException {
    Path nodes = home.resolve("nodes");
    if (!Files.exists(nodes)) {
      return;
    }
    try (Stream<Path> walk = Files.walk(nodes)) {
      for (Path path : walk.filter(each -> !each.equals(nodes)).toList()) {
        if (!Files.isDirectory(path)) {
          left.add("file " + path);
        } else if (path.getFileName().toString().endsWith(".gpush")) {
          left.add("folder " + path);
        } else if (isEmpty(path)) {
          left.add("empty folder " + path);
        }
      }
    }
  }

  private static boolean isEmpty(Path folder) throws IOException {
    try (Stream<Path> list = Files.list(folder)) {
      return list.findFirst().isEmpty();
    }
  }

  @Override
  public String read(Gang gang, int node, String path) throws IOException {
    return Files.readString(Path.of(path));
  }

  /** Whatever a failed test has left is given back, so that no agent stays. */
  @Override
  public void close() throws IOException {
    try {
      for (GangRequest request : asked) {
        backend().release(new Gang(request.gang(), "local", List.of(), ""), BackendContract.LIMIT);
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } finally {
      tasks.close();
    }
  }
}
