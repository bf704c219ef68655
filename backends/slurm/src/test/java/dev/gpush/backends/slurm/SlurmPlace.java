package dev.gpush.backends.slurm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.LinkTiming;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.link.hub.HubMachine;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.BackendPlace;
import dev.gpush.testkit.rig.SlurmRig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** A profile of the rig as ann has it; jobs, agents and files are real. */
final class SlurmPlace implements BackendPlace {
  private final SlurmRig rig;
  private final Json.Obj settings;
  private final Tasks tasks = Tasks.named("slurm-place", (_, _) -> {});
  private final SecureRandom random = new SecureRandom();
  private final Queue<GangRequest> asked = new ConcurrentLinkedQueue<>();
  private final Queue<HubMachine> hubs = new ConcurrentLinkedQueue<>();
  private final SlurmBackend backend;

  SlurmPlace(SlurmRig rig, Json.Obj settings) {
    this.rig = rig;
    this.settings = settings;
    this.backend = over(hub());
  }

  static SlurmPlace of(String profile) throws Exception {
    return new SlurmPlace(SlurmRig.of(profile), Json.object());
  }

  SlurmRig rig() {
    return rig;
  }

  @Override
  public SlurmBackend backend() {
    return backend;
  }

  @Override
  public SlurmBackend again() {
    return over(hub());
  }

  /** One ssh connection for all commands, as in real life. */
  private Machine hub() {
    HubMachine hub =
        new HubMachine(
            rig.login("ann"),
            new AgentImage(tasks, random),
            "test",
            Duration.ofSeconds(5),
            LinkTiming.usual(),
            tasks,
            Clock.system(),
            random);
    hubs.add(hub);
    return hub;
  }

  SlurmBackend over(Machine login) {
    return with(login, settings);
  }

  SlurmBackend with(Machine login, Json.Obj values) {
    return SlurmBackend.of(
        new BackendConfig("hpc", "slurm", values, ""),
        login,
        List.of(),
        new AgentImage(tasks, random),
        tasks,
        Clock.system(),
        random);
  }

  @Override
  public GangRequest request(int nodes, LeaseTerms lease) {
    return request(nodes, "H100:8", lease);
  }

  GangRequest request(int nodes, String gpus, LeaseTerms lease) {
    GangRequest request = BackendPlace.fresh(random, nodes, gpus, lease, Map.of("COLOUR", "red"));
    asked.add(request);
    return request;
  }

  @Override
  public int capacity() {
    return 4;
  }

  @Override
  public GangRequest never() {
    return request(5, BackendContract.LONG);
  }

  @Override
  public List<String> slots(NodeInfo node) {
    return node.slots().stream().map(slot -> node.host() + ":" + slot).toList();
  }

  /** The agents must have started: Slurm starts jobs when it likes. */
  @Override
  public Duration shortLease() {
    return Duration.ofSeconds(8);
  }

  /** The guard, too: it would start another agent. */
  @Override
  public void kill(Gang gang, int node) throws Exception {
    Json status = status(gang, node);
    String pid = Long.toString(status.number("pid").orElseThrow());
    String guard = Long.toString(status.number("guard").orElseThrow());
    String host = gang.nodes().get(node).host();
    assertEquals(0, rig.root(host, "kill", "-KILL", guard, pid).status());
    until(() -> rig.root(host, "kill", "-0", pid).status() != 0);
    // The last agent takes the job along, when its script has seen it.
    if (gang.nodes().stream().allMatch(each -> isQuiet(each.host()))) {
      until(() -> rig.ann("squeue", "-h", "-n", "gpush-" + gang.id()).isEmpty());
    }
  }

  /** Stops a node's agent: it lives and answers nothing. */
  void stopAgent(Gang gang, int node) throws Exception {
    String host = gang.nodes().get(node).host();
    assertEquals(0, rig.root(host, "kill", "-STOP", pid(gang, node)).status());
  }

  private String pid(Gang gang, int node) throws Exception {
    return Long.toString(status(gang, node).number("pid").orElseThrow());
  }

  private Json status(Gang gang, int node) throws Exception {
    AgentImage agent = new AgentImage(tasks, random);
    Json.Obj header =
        Json.object(
            "mode",
            "control",
            "gang",
            gang.id().text(),
            "node",
            node,
            "control",
            Json.object("do", "status"));
    return agent.ask(
        backend.spawn(gang, node, agent.arguments(backend.interpreters(gang))), header);
  }

  private boolean isQuiet(String host) {
    try (Stream<Path> folders = Files.list(rig.host(host).resolve("tmp/gpush-20001"))) {
      return folders.noneMatch(folder -> isAlive(host, folder));
    } catch (IOException none) {
      return true;
    }
  }

  private boolean isAlive(String host, Path folder) {
    try {
      Path file = folder.resolve("agent.json");
      if (!Files.exists(file)) {
        return false;
      }
      Json agent = Json.parse(Files.readString(file));
      long pid = agent.number("pid").orElse(0L);
      return !agent.text("name").orElse("").equals("hub")
          && rig.root(host, "kill", "-0", Long.toString(pid)).status() == 0;
    } catch (IOException gone) {
      return false;
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  interface Statement {
    boolean holds() throws Exception;
  }

  static void until(Statement statement) throws Exception {
    long start = System.nanoTime();
    while (!statement.holds()) {
      assertTrue(System.nanoTime() - start < BackendContract.LIMIT.toNanos(), "never so");
      LockSupport.parkNanos(POLL_PAUSE.toNanos());
    }
  }

  @Override
  public List<String> leftovers() throws Exception {
    var left = new ArrayList<String>();
    for (GangRequest request : asked) {
      String name = "gpush-" + request.gang();
      String jobs = rig.ann("squeue", "-h", "-n", name, "-o", "%i %T");
      if (!jobs.isEmpty()) {
        left.add("job " + jobs);
      }
      files(rig.home().resolve("ann/gpush").resolve(request.gang().text()), left);
    }
    for (String host : List.of("gpu1", "gpu2", "gpu3", "gpu4", "login")) {
      agents(host, left);
    }
    return left;
  }

  private void agents(String host, List<String> left) throws IOException {
    Path folders = rig.host(host).resolve("tmp/gpush-20001");
    if (!Files.isDirectory(folders)) {
      return;
    }
    try (Stream<Path> list = Files.list(folders)) {
      list.filter(folder -> isAlive(host, folder)).forEach(folder -> left.add("agent on " + host));
    }
  }

  private static void files(Path gang, List<String> left) throws IOException {
    if (!Files.exists(gang)) {
      return;
    }
    try (Stream<Path> walk = Files.walk(gang)) {
      for (Path path : walk.toList()) {
        String name = path.toString().replaceFirst("^.*/home/ann/", "/home/ann/");
        if (!Files.isDirectory(path)) {
          left.add("file " + name);
        } else if (path.toString().endsWith(".gpush")) {
          left.add("folder " + name);
        } else {
          try (Stream<Path> inside = Files.list(path)) {
            if (inside.findFirst().isEmpty()) {
              left.add("empty folder " + name);
            }
          }
        }
      }
    }
  }

  @Override
  public String read(Gang gang, int node, String path) throws IOException {
    return Files.readString(rig.home().resolve(path.replaceFirst("^/home/", "")));
  }

  /** Whatever a failed test has left is given back. */
  @Override
  public void close() throws IOException {
    try {
      for (GangRequest request : asked) {
        rig.tried("ann", "scancel", "-n", "gpush-" + request.gang());
        until(() -> rig.ann("squeue", "-h", "-n", "gpush-" + request.gang()).isEmpty());
        rig.ann("rm", "-rf", "gpush/" + request.gang());
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (Exception broken) {
      throw new IOException(broken);
    } finally {
      hubs.forEach(HubMachine::close);
      tasks.close();
    }
  }
}
