package dev.gpush.backends.hosts.ssh;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.hosts.HostsBackend;
import dev.gpush.backends.hosts.RackSettings;
import dev.gpush.backends.hosts.local.SystemHost;
import dev.gpush.backends.hosts.rack.HostAgents;
import dev.gpush.backends.hosts.rack.Rack;
import dev.gpush.backends.hosts.rack.Survey;
import dev.gpush.backends.hosts.rack.Surveys;
import dev.gpush.backends.transport.SshClient;
import dev.gpush.backends.transport.SshSettings;
import dev.gpush.backends.transport.SshTransport;
import dev.gpush.backends.transport.Transport;
import dev.gpush.backends.transport.builtin.Builtin;
import dev.gpush.backends.transport.openssh.OpenSsh;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.BackendPlace;
import dev.gpush.testkit.fixture.FolderTree;
import dev.gpush.testkit.rig.SshRig;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A rack of hosts of the ssh rig, with eight GPUs each where the rig pretends some. */
final class RigPlace implements BackendPlace {
  /** Prints a line for each thing of these agents' names that is left on a host. */
  private static final String LEFT =
      """
      for name in "$@"; do
        for base in /tmp /var/tmp /dev/shm; do
          for file in "$base/gpush-7001/$name" "$base/gpush-7001/$name.start"; do
            if test -e "$file"; then echo "agent's folder $file"; fi
          done
        done
        if grep -q "@gpush-7001-$name" /proc/net/unix; then echo "agent $name"; fi
      done
      if test -d /home/ann/gpush; then
        find /home/ann/gpush ! -type d | sed 's/^/file /'
        find /home/ann/gpush -type d \\( -empty -o -name '*.gpush' \\) | sed 's/^/folder /'
      fi
      """;

  /** Longer than a loaded machine keeps anybody waiting. */
  private static final Duration PATIENT = Duration.ofMinutes(1);

  private static final Duration BRIEF = Duration.ofSeconds(3);

  private final SshRig rig;
  private final boolean isBuiltin;
  private final Duration patience;
  private final List<String> hosts;
  private final Path folder = Files.createTempDirectory("gs");
  private final Tasks tasks = Tasks.named("rig-place", (_, _) -> {});
  private final SecureRandom random = new SecureRandom();
  private final Queue<GangRequest> asked = new ConcurrentLinkedQueue<>();
  private final List<Transport> transports = new ArrayList<>();
  private final HostsBackend backend;

  RigPlace(SshRig rig, String... hosts) throws IOException {
    this(rig, false, PATIENT, hosts);
  }

  private RigPlace(SshRig rig, boolean isBuiltin, Duration patience, String... hosts)
      throws IOException {
    this.rig = rig;
    this.isBuiltin = isBuiltin;
    this.patience = patience;
    this.hosts = List.of(hosts);
    this.backend = again();
  }

  /** One that takes hosts for unreachable soon. */
  static RigPlace brief(SshRig rig, String... hosts) throws IOException {
    return new RigPlace(rig, false, BRIEF, hosts);
  }

  /** The same over the transport {@code builtin}. */
  static RigPlace builtin(SshRig rig, String... hosts) throws IOException {
    return new RigPlace(rig, true, PATIENT, hosts);
  }

  @Override
  public HostsBackend backend() {
    return backend;
  }

  @Override
  public HostsBackend again() {
    var host = new SystemHost("laptop", 2, true, folder, System.getenv());
    SshSettings settings =
        SshSettings.usual(folder.resolve("s" + transports.size()), System.getenv())
            .withConfig(rig.config())
            .withSilence(patience, patience);
    SshClient client =
        isBuiltin
            ? new Builtin(settings, "a test", tasks)
            : new OpenSsh(settings, host::spawn, tasks);
    Transport transport = new SshTransport(client, settings, random, tasks);
    transports.add(transport);
    List<Json> items = hosts.stream().<Json>map(name -> Json.object("host", name)).toList();
    var config = new BackendConfig("rack", "ssh", Json.object("hosts", items), "config.yaml:3");
    Rack rack = RackSettings.ssh(config, _ -> transport);
    return new HostsBackend(rack, new AgentImage(tasks, random), random, tasks);
  }

  @Override
  public GangRequest request(int nodes, LeaseTerms lease) {
    return request(nodes, "5", lease);
  }

  GangRequest request(int nodes, String gpus, LeaseTerms lease) {
    GangRequest request = BackendPlace.fresh(random, nodes, gpus, lease, Map.of("COLOUR", "blue"));
    asked.add(request);
    return request;
  }

  @Override
  public int capacity() {
    return hosts.size();
  }

  @Override
  public GangRequest never() {
    return request(hosts.size() + 1, BackendContract.LONG);
  }

  @Override
  public List<String> slots(NodeInfo node) {
    return node.slots().stream().map(slot -> node.host() + " " + slot).toList();
  }

  @Override
  public void kill(Gang gang, int node) throws Exception {
    NodeInfo info = gang.nodes().get(node);
    Rack rack = rack(List.of(info.host()));
    Json status =
        new HostAgents(new AgentImage(tasks, random), rack, tasks)
            .control(gang.id(), info, Json.object("do", "status"));
    long pid = status.number("pid").orElseThrow();
    String guard = status.number("guard").map(String::valueOf).orElseThrow();
    rig.in(info.host(), "kill", "-9", guard, Long.toString(pid));
    long start = System.nanoTime();
    while (rig.in(info.host(), "sh", "-c", "kill -0 " + pid + " && echo there").contains("there")) {
      assertTrue(System.nanoTime() - start < BackendContract.LIMIT.toNanos(), "does not die");
    }
  }

  @Override
  public List<String> leftovers() throws Exception {
    var names = new ArrayList<String>();
    for (GangRequest request : asked) {
      for (int node = 0; node < request.nodes(); node++) {
        names.add(digest(request.gang() + "/" + node));
      }
    }
    var left = new ArrayList<String>();
    for (String host : hosts) {
      var command = new ArrayList<>(List.of("sh", "-c", LEFT, "sh"));
      command.addAll(names);
      left.addAll(rig.in(host, command.toArray(String[]::new)).lines().toList());
    }
    locks(left);
    return left;
  }

  /** Over the transport that this place has opened first. */
  private Rack rack(List<String> names) {
    List<Json> items = names.stream().<Json>map(name -> Json.object("host", name)).toList();
    var config = new BackendConfig("rack", "ssh", Json.object("hosts", items), "");
    return RackSettings.ssh(config, _ -> transports.getFirst());
  }

  private void locks(List<String> left) throws InterruptedException {
    Rack rack = rack(hosts);
    for (Survey survey : new Surveys(rack, tasks).all(rack.hosts()).surveys()) {
      for (Survey.Slot slot : survey.slots()) {
        if (asked.stream().anyMatch(request -> request.gang().text().equals(slot.gang()))) {
          left.add("lock " + slot.lock() + " on " + survey.host().name());
        }
      }
    }
  }

  private static String digest(String name) throws Exception {
    byte[] hash =
        MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
    return HexFormat.of().formatHex(hash, 0, 6);
  }

  @Override
  public String read(Gang gang, int node, String path) throws Exception {
    return rig.in(gang.nodes().get(node).host(), "cat", path);
  }

  /** Whatever a failed test has left is given back, so that nothing is in the next one's way. */
  @Override
  public void close() throws IOException {
    try {
      // Where a person is needed nobody can tell, and nothing was reserved.
      for (GangRequest request : hosts.contains("mfa") ? List.<GangRequest>of() : asked) {
        backend.release(new Gang(request.gang(), "rack", List.of(), ""), BackendContract.LIMIT);
        for (String host : hosts) {
          rig.in(
              host,
              "sh",
              "-c",
              "rm -rf /home/ann/gpush/" + request.gang() + "; rmdir /home/ann/gpush 2>/dev/null");
        }
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } finally {
      transports.forEach(Transport::close);
      tasks.close();
      FolderTree.delete(folder);
    }
  }
}
