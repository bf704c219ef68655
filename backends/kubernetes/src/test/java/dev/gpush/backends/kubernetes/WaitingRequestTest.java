package dev.gpush.backends.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.fail;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.api.ApiServer;
import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.backend.Waiter;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.BackendPlace;
import dev.gpush.testkit.fake.ManualClock;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A request that waits is not ended by what a look happens to see. */
final class WaitingRequestTest {
  private static final String NODES = "/api/v1/nodes";

  private final Tasks tasks = Tasks.named("test", (_, _) -> {});
  private final SecureRandom random = new SecureRandom();
  private final ManualClock clock = new ManualClock();
  private final FakeServer server = new FakeServer();
  private final GangRequest request =
      BackendPlace.fresh(random, 2, "8", BackendContract.LONG, Map.of());

  /** A suspended Job in a cluster whose nodes a test sets. */
  private static final class FakeServer implements ApiServer {
    final Map<String, Json> answers = new ConcurrentHashMap<>();
    final Set<String> forbidden = ConcurrentHashMap.newKeySet();
    volatile boolean isFull;
    final ConcurrentLinkedQueue<String> changes = new ConcurrentLinkedQueue<>();

    @Override
    public Optional<String> namespace() {
      return Optional.of("ml");
    }

    @Override
    public String server() {
      return "https://fake";
    }

    @Override
    public Json get(String path) throws ApiRefusal {
      if (forbidden.contains(path)) {
        throw new ApiRefusal(403, "Forbidden", path);
      }
      return Optional.ofNullable(answers.get(path))
          .orElseGet(() -> answers.getOrDefault(path.replaceFirst("[?].*", ""), items()));
    }

    @Override
    public Json create(String path, Json object) throws ApiRefusal {
      if (isFull) {
        throw new ApiRefusal(403, "Forbidden", "exceeded quota: objects, used: services=9");
      }
      changes.add("create " + path);
      return object;
    }

    @Override
    public Json replace(String path, Json object) {
      changes.add("replace " + path);
      return object;
    }

    @Override
    public Json change(String path, Json change) {
      changes.add("change " + path);
      return change;
    }

    @Override
    public void delete(String path, Json options) {
      changes.add("delete " + path);
    }

    @Override
    public Instant time() {
      return Instant.EPOCH;
    }

    @Override
    public String log(String namespace, String pod, String container) {
      return "";
    }

    @Override
    public Pipe exec(String namespace, String pod, String container, List<String> arguments)
        throws IOException {
      throw new IOException(pod);
    }
  }

  private record Leaving(Consumer<String> said) implements Waiter {
    @Override
    public void waits(String words) {
      said.accept(words);
    }

    @Override
    public boolean leavesPlace() {
      return true;
    }
  }

  private static Json items(Json... items) {
    return Json.object("items", List.of(items));
  }

  private static Json node(String name, boolean isCordoned) {
    return Json.object(
        "metadata",
        Json.object("name", name),
        "spec",
        Json.object("unschedulable", isCordoned),
        "status",
        Json.object(
            "allocatable",
                Json.object("nvidia.com/gpu", "8", "cpu", "64", "memory", "256Gi", "pods", "110"),
            "conditions", List.of(Json.object("type", "Ready", "status", "True"))));
  }

  private Backend backend() {
    return backend("plain");
  }

  private Backend backend(String gang) {
    var values = Json.object("gang", gang, "image", "acme/train:1");
    return KubernetesBackend.over(
        server,
        new BackendConfig("k8s", "kubernetes", values, ""),
        new AgentImage(tasks, random),
        tasks,
        clock,
        random);
  }

  @AfterEach
  void end() {
    tasks.close();
  }

  private static void heard(LinkedBlockingQueue<String> said, String words) throws Exception {
    var others = new ArrayList<String>();
    while (others.size() < 30) {
      String last = said.poll(BackendContract.LIMIT.toSeconds(), TimeUnit.SECONDS);
      assertNotNull(last, words);
      if (last.contains(words)) {
        return;
      }
      others.add(last);
    }
    fail(words + " was not said, but " + others);
  }

  @Test
  void aNodeThatIsAwayForAMomentEndsNoRequestThatWaits() throws Exception {
    Json job =
        Json.object(
            "metadata", Json.object("name", "gpush-1", "uid", "u"),
            "spec", Json.object("suspend", true));
    server.answers.put("/apis/batch/v1/namespaces/ml/jobs", items(job));
    server.answers.put(NODES, items(node("n1", true)));
    var said = new LinkedBlockingQueue<String>();
    Waiter waiter = new Leaving(said::add);
    var queue = backend().capabilities().queue().orElseThrow();

    Task<Gang, RuntimeException> waiting = tasks.fork("gang", () -> queue.resume(request, waiter));

    String away = "not for 2, even on an empty cluster; nothing is reserved meanwhile";
    heard(said, away);
    server.answers.put(NODES, items(node("n1", true), node("n2", true)));
    heard(said, "there is room for 0 of its 2 nodes");
    server.answers.put(NODES, items(node("n1", true)));
    heard(said, away);
    waiting.cancel();
    waiting.join(BackendContract.LIMIT);
    assertEquals(List.of(), server.changes.stream().filter(it -> it.startsWith("delete")).toList());
  }

  /** An administrator has lowered it for a while. */
  @Test
  void aQuotaThatIsTooSmallNowEndsNoRequestThatWaits() throws Exception {
    assertWaitsForKueue();
  }

  /** A gateway that starts creates the objects of a request again, and they are there. */
  @Test
  void aQuotaOnObjectsThatIsUsedUpEndsNoRequestThatWaits() throws Exception {
    server.isFull = true;
    assertWaitsForKueue();
  }

  /** Of other queues of the cluster queue only the positions are known. */
  @Test
  void kueueSaysWhichJobsAreAhead() {
    waitInKueue();
    String pending =
        "/apis/visibility.kueue.x-k8s.io/v1beta1/namespaces/ml/localqueues/team/pendingworkloads";
    server.answers.put(pending, items(pending("a", 2), pending("w", 3), pending("b", 0)));
    Json bobs = Json.object("gang", "1", "owner", "bob", "session", "devbox");
    String named =
        "/apis/kueue.x-k8s.io/v1beta1/namespaces/ml/workloads?fieldSelector=metadata.name%3D";
    server.answers.put(named + "a", items(workload("a", 1, Json.object(), "0")));
    server.answers.put(
        named + "b", items(workload("b", 2, Json.object("gpush.dev/gang", bobs.write()), "8")));

    assertEquals(
        Optional.of(
            new JobsAhead(
                "the cluster queue of team",
                3,
                List.of("bob's devbox (16 GPUs)", "job-a (1 pod)", "1 of other queues"),
                false)),
        ahead("kueue"));
    assertEquals(Optional.empty(), ahead("plain"));

    server.answers.put(pending, items(pending("w", 0)));
    assertEquals(
        Optional.of(new JobsAhead("the cluster queue of team", 0, List.of(), false)),
        ahead("kueue"));
    server.answers.put(pending, items(pending("a", 0)));
    assertEquals(Optional.empty(), ahead("kueue"), "it has quota");
    server.forbidden.add(pending);
    assertEquals(Optional.empty(), ahead("kueue"));
  }

  private static Json workload(String name, int pods, Json annotations, String gpus) {
    Json limits = Json.object("limits", Json.object("nvidia.com/gpu", gpus));
    Json template =
        Json.object(
            "metadata", Json.object("annotations", annotations),
            "spec", Json.object("containers", List.of(Json.object("resources", limits))));
    return Json.object(
        "metadata", Json.object("name", name),
        "spec", Json.object("podSets", List.of(Json.object("count", pods, "template", template))));
  }

  private Optional<JobsAhead> ahead(String gang) {
    return backend(gang).capabilities().queueOrder().orElseThrow().ahead(request.gang());
  }

  private static Json pending(String name, int position) {
    return Json.object(
        "metadata",
        Json.object(
            "name",
            name,
            "ownerReferences",
            List.of(Json.object("kind", "Job", "name", "job-" + name))),
        "positionInClusterQueue",
        position);
  }

  private void waitInKueue() {
    Json job =
        Json.object(
            "metadata", Json.object("name", "gpush-1", "uid", "u"),
            "spec", Json.object("suspend", true));
    Json small =
        Json.object(
            "type", "QuotaReserved",
            "status", "False",
            "reason", "Pending",
            "message", "insufficient quota, maximum capacity is 0");
    Json workload =
        Json.object(
            "metadata", Json.object("name", "w"),
            "status", Json.object("conditions", List.of(small)));
    String kueue = "/apis/kueue.x-k8s.io/v1beta1";
    server.answers.put(
        "/apis",
        Json.object(
            "groups",
            List.of(
                Json.object(
                    "name",
                    "kueue.x-k8s.io",
                    "versions",
                    List.of(Json.object("version", "v1beta1"))))));
    server.answers.put(
        kueue + "/namespaces/ml/localqueues",
        items(Json.object("metadata", Json.object("name", "team"))));
    server.answers.put(kueue + "/namespaces/ml/workloads", items(workload));
    server.answers.put("/apis/batch/v1/namespaces/ml/jobs", items(job));
    server.answers.put(NODES, items(node("n1", false), node("n2", false)));
  }

  private void assertWaitsForKueue() throws Exception {
    waitInKueue();
    var said = new LinkedBlockingQueue<String>();
    var queue = backend("kueue").capabilities().queue().orElseThrow();
    Waiter waiter =
        new Leaving(
            words -> {
              clock.advance(Duration.ofMinutes(1));
              said.add(words);
            });

    Task<Gang, RuntimeException> waiting = tasks.fork("gang", () -> queue.resume(request, waiter));

    for (int look = 0; look < 5; look++) {
      heard(said, "maximum capacity");
    }
    waiting.cancel();
    waiting.join(BackendContract.LIMIT);
    assertEquals(List.of(), server.changes.stream().filter(it -> it.startsWith("delete")).toList());
  }

  @Test
  void aNewRequestThatCannotFitIsRefused() {
    server.answers.put(NODES, items(node("n1", false)));

    assertInstanceOf(
        BackendFailure.NeverFits.class,
        assertThrows(GpushException.class, () -> backend().reserve(request)).failure());
  }
}
