package dev.gpush.backends.kubernetes;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.kubernetes.api.Access;
import dev.gpush.backends.kubernetes.api.ApiServer;
import dev.gpush.backends.kubernetes.cluster.KubernetesSettings;
import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.backends.kubernetes.gangs.PodGroupGang;
import dev.gpush.backends.kubernetes.objects.Jobs;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.BackendPlace;
import dev.gpush.testkit.rig.KubernetesRig;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** A fresh namespace of a real cluster; jobs, pods and agents are real. */
public final class KubernetesPlace implements BackendPlace {
  /** All kinds of objects that are made there. */
  private static final String KINDS = "jobs,pods,services,secrets,leases.coordination.k8s.io";

  private final KubernetesRig rig;
  private final String namespace;
  private final Json.Obj settings;
  private final String kinds;
  private final Tasks tasks = Tasks.named("kubernetes-place", (_, _) -> {});
  private final SecureRandom random = new SecureRandom();
  private final KubernetesBackend backend;

  KubernetesPlace(KubernetesRig rig, Json.Obj more) throws Exception {
    this.rig = rig;
    var id = new byte[4];
    random.nextBytes(id);
    this.namespace = "gpush-" + HexFormat.of().formatHex(id);
    var all =
        Json.object(
            "kubeconfig",
            rig.kubeconfig().toString(),
            "namespace",
            namespace,
            "image",
            KubernetesRig.IMAGE);
    for (var each : more.entries().entrySet()) {
      all = all.with(each.getKey(), each.getValue());
    }
    this.settings = all;
    rig.kubectl("create", "namespace", namespace);
    until(() -> rig.tried("-n", namespace, "get", "serviceaccount", "default").status() == 0);
    var served = new StringBuilder(KINDS);
    for (PodGroupGang.Kind kind : PodGroupGang.Kind.values()) {
      String groups = "podgroups." + kind.group();
      if (rig.tried("-n", namespace, "get", groups).status() == 0) {
        served.append(',').append(groups);
      }
    }
    this.kinds = served.toString();
    this.backend = with(Json.object());
  }

  public static KubernetesPlace of(String profile) throws Exception {
    return new KubernetesPlace(KubernetesRig.of(profile), Json.object());
  }

  public KubernetesRig rig() {
    return rig;
  }

  public String namespace() {
    return namespace;
  }

  /** What must succeed, in this namespace. */
  public String kubectl(String... words) throws Exception {
    var all = new String[words.length + 2];
    all[0] = "-n";
    all[1] = namespace;
    System.arraycopy(words, 0, all, 2, words.length);
    return rig.kubectl(all);
  }

  /** Makes a LocalQueue of Kueue. */
  void giveQueue(String name, String clusterQueue) throws Exception {
    rig.apply(
        namespace,
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: %s}
        spec: {clusterQueue: %s}
        """
            .formatted(name, clusterQueue));
  }

  @Override
  public KubernetesBackend backend() {
    return backend;
  }

  @Override
  public KubernetesBackend again() {
    return with(Json.object());
  }

  KubernetesBackend with(Json.Obj more) {
    return KubernetesBackend.of(
        config(more), Map.of(), new AgentImage(tasks, random), tasks, Clock.system(), random);
  }

  private BackendConfig config(Json.Obj more) {
    Json.Obj values = settings;
    for (var each : more.entries().entrySet()) {
      values = values.with(each.getKey(), each.getValue());
    }
    return new BackendConfig("k8s", "kubernetes", values, "");
  }

  /** The same through another way to the API server. */
  KubernetesBackend over(ApiServer server) {
    return KubernetesBackend.over(
        server,
        config(Json.object()),
        new AgentImage(tasks, random),
        tasks,
        Clock.system(),
        random);
  }

  Access access() {
    return KubernetesSettings.of(config(Json.object())).access();
  }

  @Override
  public GangRequest request(int nodes, LeaseTerms lease) {
    return request(nodes, "H100:8", lease);
  }

  GangRequest request(int nodes, String gpus, LeaseTerms lease) {
    return BackendPlace.fresh(random, nodes, gpus, lease, Map.of("COLOUR", "red"));
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

  /** The agents must have started. */
  @Override
  public Duration shortLease() {
    return Duration.ofSeconds(8);
  }

  /**
   * What ends a pod's agent for good is that it lets go; killed, it would begin again. The agent is
   * the container's first process, so its end kills the command that asks: often before the answer.
   */
  @Override
  public void kill(Gang gang, int node) throws Exception {
    var agent = new AgentImage(tasks, random);
    Json.Obj header =
        Json.object(
            "mode",
            "control",
            "gang",
            gang.id().text(),
            "node",
            node,
            "control",
            Json.object("do", "release"));
    String answer;
    try {
      List<String> command = agent.arguments(backend.interpreters(gang));
      answer = agent.ask(backend.spawn(gang, node, command), header).write();
    } catch (IOException | GpushException ended) {
      answer = ended.toString();
    }
    String said = answer;
    String job = kubectl("get", "job", "-l", PodTag.selector(gang.id()), "-o", "name");
    until(
        () -> isOver(job, node, gang.nodes().size()),
        () -> "node " + node + " is still there: " + said);
  }

  private boolean isOver(String job, int node, int nodes) throws Exception {
    Json now = Json.parse(kubectl("get", job, "-o", "json"));
    return Jobs.ended(now).contains(node)
        && (Jobs.ended(now).size() < nodes || Jobs.end(now).isPresent());
  }

  public interface Statement {
    boolean holds() throws Exception;
  }

  public static void until(Statement statement) throws Exception {
    until(statement, () -> "never so");
  }

  /**
   * The same where more can be told.
   *
   * @param seen what to say if it is never so
   */
  static void until(Statement statement, Supplier<String> seen) throws Exception {
    long start = System.nanoTime();
    while (!statement.holds()) {
      assertTrue(System.nanoTime() - start < BackendContract.LIMIT.toNanos(), seen);
      LockSupport.parkNanos(POLL_PAUSE.toNanos());
    }
  }

  /** What a job owns goes when the cluster's own collector has seen that the job is gone. */
  @Override
  public List<String> leftovers() throws Exception {
    long start = System.nanoTime();
    List<String> left = left();
    while (!left.isEmpty() && System.nanoTime() - start < BackendContract.LIMIT.toNanos()) {
      onPoll();
      left = left();
    }
    return left;
  }

  List<String> left() throws Exception {
    return kubectl("get", kinds, "-l", PodTag.MANAGER_LABEL, "-o", "name").lines().toList();
  }

  @Override
  public String read(Gang gang, int node, String path) {
    throw new IllegalStateException("what was in a pod is gone with it");
  }

  /** Whatever a failed test has left goes with the namespace. */
  @Override
  public void close() throws IOException {
    try {
      kubectl("delete", "jobs", "--all", "--cascade=foreground", "--timeout=300s");
      rig.kubectl("delete", "namespace", namespace, "--wait=false");
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (Exception broken) {
      throw new IOException(broken);
    } finally {
      tasks.close();
    }
  }
}
