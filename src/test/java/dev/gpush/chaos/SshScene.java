package dev.gpush.chaos;

import dev.gpush.backends.hosts.HostsBackend;
import dev.gpush.backends.hosts.RackSettings;
import dev.gpush.backends.hosts.local.SystemHost;
import dev.gpush.backends.transport.Destination;
import dev.gpush.backends.transport.RemoteMachine;
import dev.gpush.backends.transport.SshSettings;
import dev.gpush.backends.transport.SshTransport;
import dev.gpush.backends.transport.Transport;
import dev.gpush.backends.transport.openssh.OpenSsh;
import dev.gpush.core.backend.Backend;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.gang.AgentFolder;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.talk.Person;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.contract.BackendPlace;
import dev.gpush.testkit.fixture.FolderTree;
import dev.gpush.testkit.rig.SshRig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Three hosts of the ssh rig with eight pretended GPUs each. */
final class SshScene implements Scene {
  private static final List<String> HOSTS = List.of("h1", "h2", "h3");

  /**
   * Which of these agents live on a host: the processes of the guard and the agent, a line each.
   */
  private static final String AGENTS =
      """
      for name in "$@"; do
        for file in /tmp/gpush-7001/$name/agent.json; do
          pid=$(sed -n 's/.*"pid": *\\([0-9]*\\).*/\\1/p' "$file" 2>/dev/null)
          guard=$(sed -n 's/.*"guard": *\\([0-9]*\\).*/\\1/p' "$file" 2>/dev/null)
          if [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; then echo $guard $pid; fi
        done
      done
      """;

  /** What is left of a gang on a host where nobody holds anything. */
  private static final String LEFT =
      """
      find /home/ann/gpush -path "*$1*" 2>/dev/null
      for file in /tmp/gpush-gpus/*; do
        if [ -f "$file" ] && ! flock -n "$file" true; then echo "locked $file"; fi
      done
      true
      """;

  private final SshRig rig;
  private final Path folder = Files.createTempDirectory("gc");
  private final Tasks tasks = Tasks.named("ssh-scene", (_, _) -> {});
  private final SecureRandom random = new SecureRandom();
  private final Asked asked = new Asked();
  private final List<SshTransport> opened = new ArrayList<>();
  private final HostsBackend rival;

  // guarded by this: what heal is for
  private final List<String> cut = new ArrayList<>();
  private final List<String> off = new ArrayList<>();
  private final List<Gang> taken = new ArrayList<>();

  SshScene() throws Exception {
    this.rig = SshRig.required();
    SshTransport transport = transport("r");
    this.rival =
        new HostsBackend(
            RackSettings.ssh(block(List.of("h2")), _ -> transport),
            new AgentImage(tasks, random),
            random,
            tasks);
  }

  private static BackendConfig block(List<String> hosts) {
    List<Json> items = hosts.stream().<Json>map(name -> Json.object("host", name)).toList();
    return new BackendConfig("rack", "ssh", Json.object("hosts", items), "");
  }

  /** Each gateway has its own; the connections beneath are found again by the next. */
  private synchronized SshTransport transport(String name) {
    var host = new SystemHost("laptop", 2, true, folder, System.getenv());
    SshSettings usual = SshSettings.usual(folder.resolve(name), System.getenv());
    var settings =
        new SshSettings(
            usual.program(),
            Optional.of(rig.config()),
            usual.folder(),
            usual.environment(),
            Duration.ofSeconds(3),
            Duration.ofSeconds(3),
            Duration.ofSeconds(3));
    var client = new OpenSsh(settings, host::spawn, tasks);
    var made = new SshTransport(client, settings, random, tasks);
    opened.add(made);
    return made;
  }

  @Override
  public String name() {
    return "ssh";
  }

  @Override
  public String gpus() {
    return "8";
  }

  @Override
  public List<Fault> faults() {
    return List.of(
        Fault.NODE_DOWN, Fault.AGENT_KILLED, Fault.PIPES_CUT, Fault.HOST_CUT, Fault.HALF_TAKEN);
  }

  @Override
  public Backend backend(Life life) {
    var transport = new Watched(transport("s"), life);
    return new HostsBackend(
        RackSettings.ssh(block(HOSTS), _ -> transport), life.agent(), life.random(), life.tasks());
  }

  /** A transport whose commands are moments of a gateway. */
  private record Watched(Transport real, Life life, Map<Destination, RemoteMachine> machines)
      implements Transport {
    Watched(Transport real, Life life) {
      this(real, life, new ConcurrentHashMap<>());
    }

    @Override
    public RemoteMachine machine(Destination destination, String login) {
      return machines.computeIfAbsent(
          destination, _ -> new WatchedMachine(real.machine(destination, login), life));
    }

    @Override
    public void close() {}
  }

  private record WatchedMachine(RemoteMachine real, Life life) implements RemoteMachine {
    @Override
    public String explain() {
      return real.explain();
    }

    @Override
    public String name() {
      return real.name();
    }

    @Override
    public Optional<MachineFailure> closed() {
      return real.closed();
    }

    @Override
    public void open(Person person) throws InterruptedException {
      real.open(person);
    }

    @Override
    public Pipe spawn(List<String> arguments) throws IOException {
      return life.command(arguments, () -> real.spawn(arguments));
    }
  }

  @Override
  public void asked(GangRequest request) {
    asked.add(request);
  }

  @Override
  public List<GangRequest> asked() {
    return asked.all();
  }

  @Override
  public synchronized void strike(Fault fault, Life life) throws Exception {
    switch (fault) {
      case NODE_DOWN -> {
        off.add("h1");
        rig.with("stop", "h1");
      }
      case AGENT_KILLED -> {
        for (GangRequest request : asked.all()) {
          killFirst(request);
        }
      }
      case PIPES_CUT -> life.cut();
      case HOST_CUT -> {
        cut.add("h2");
        rig.with("cut", "h2");
      }
      case HALF_TAKEN -> take();
      case CONTROLLER_STOPS, JOB_CANCELLED, JOB_PREEMPTED ->
          throw new IllegalStateException("not here: " + fault);
    }
  }

  /** Somebody else gets the second host, unless the gang has it already. */
  private void take() throws InterruptedException {
    GangRequest request =
        BackendPlace.fresh(
            random, 1, "8", new LeaseTerms(Optional.empty(), Duration.ofHours(1)), Map.of());
    try {
      taken.add(rival.reserve(request));
    } catch (GpushException ours) {
      // It is taken.
    }
  }

  private void killFirst(GangRequest request) throws Exception {
    for (String host : HOSTS) {
      for (String pid : agents(host, request.gang(), request.nodes())) {
        rig.in(host, "sh", "-c", "kill -9 " + pid);
        return;
      }
    }
  }

  private List<String> agents(String host, GangId gang, int nodes) throws Exception {
    var command = new ArrayList<>(List.of("sh", "-c", AGENTS, "sh"));
    for (int node = 0; node < nodes; node++) {
      command.add(AgentFolder.name(gang, node));
    }
    return rig.in(host, command.toArray(String[]::new)).lines().toList();
  }

  @Override
  public synchronized void heal() throws Exception {
    for (String host : cut) {
      rig.with("heal", host);
    }
    cut.clear();
    for (String host : off) {
      rig.with("start", host);
    }
    off.clear();
    for (Gang gang : taken) {
      rival.release(gang, Duration.ofSeconds(30));
    }
    taken.clear();
  }

  @Override
  public List<String> there(GangId gang, int nodes) throws Exception {
    var found = new ArrayList<String>();
    for (String host : HOSTS) {
      agents(host, gang, nodes).forEach(pid -> found.add("agent " + pid + " on " + host));
    }
    return found;
  }

  @Override
  public List<String> leftovers(GangId gang, int nodes) throws Exception {
    var left = new ArrayList<String>();
    for (String host : HOSTS) {
      rig.in(host, "sh", "-c", LEFT, "sh", gang.text())
          .lines()
          .forEach(line -> left.add(line + " on " + host));
    }
    return left;
  }

  @Override
  public void close() throws IOException {
    try {
      heal();
      for (GangRequest request : asked.all()) {
        for (String host : HOSTS) {
          for (String pid : agents(host, request.gang(), request.nodes())) {
            rig.in(host, "sh", "-c", "kill -9 " + pid);
          }
          rig.in(host, "sh", "-c", "rm -rf /home/ann/gpush/*" + request.gang() + "*");
        }
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (Exception broken) {
      throw new IOException(broken);
    } finally {
      opened.forEach(SshTransport::close);
      tasks.close();
      FolderTree.delete(folder);
    }
  }
}
