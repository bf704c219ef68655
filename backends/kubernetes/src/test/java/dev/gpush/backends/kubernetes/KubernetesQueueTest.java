package dev.gpush.backends.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.gpush.core.backend.Capabilities.QueueOrder;
import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.rig.KubernetesRig;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** What is said of a request that waits: why, who is ahead of it, and what would start now. */
@ResourceLock(KubernetesRig.GANGS)
@Tag("kubernetes")
final class KubernetesQueueTest {
  private static final String NEXT =
      "1 (next) in the queue team: insufficient unused quota for nvidia.com/gpu in flavor default,"
          + " 8 more needed";

  private static JobsAhead ahead(String... who) {
    return new JobsAhead("the cluster queue of team", who.length, List.of(who), false);
  }

  /** The cluster queue of both has 16 GPUs. */
  @Test
  void kueueSaysWhatIsMissingAndWhoIsAhead() throws Exception {
    try (KubernetesPlace place = KubernetesPlace.of("gangs");
        Tasks tasks = Tasks.named("waits", (_, _) -> {})) {
      place.giveQueue("team", "research");
      place.giveQueue("other", "research");
      KubernetesBackend backend = place.with(Json.object("queue", "team", "cpus", 1));
      QueueOrder order = backend.capabilities().queueOrder().orElseThrow();
      Gang running = backend.reserve(place.request(1, BackendContract.LONG));
      GangRequest request = place.request(2, BackendContract.LONG);
      var heard = new LinkedBlockingQueue<String>();

      var waiting = tasks.fork("gang", () -> backend.reserve(request, heard::add));
      KubernetesPlace.until(() -> heard.contains(NEXT), heard::toString);
      assertEquals(Optional.of(ahead()), order.ahead(request.gang()));
      assertEquals(
          new Plan.Later(
              "the queue team has 8 of nvidia.com/gpu left, and 16 are wanted",
              Optional.empty(),
              List.of()),
          backend.plan(request));
      assertInstanceOf(Plan.Now.class, backend.plan(place.request(1, BackendContract.LONG)));
      GangRequest late = place.request(2, BackendContract.LONG);
      var behind = tasks.fork("late", () -> backend.reserve(late, heard::add));
      // Kueue orders by seconds: either is first when both were made in the same one.
      var yours = Optional.of(ahead("your devbox (16 GPUs)"));
      KubernetesPlace.until(
          () -> order.ahead(late.gang()).equals(yours) || order.ahead(request.gang()).equals(yours),
          () -> order.ahead(late.gang()) + ", " + order.ahead(request.gang()));
      GangRequest next = order.ahead(late.gang()).equals(yours) ? request : late;
      String urgent = place.namespace();
      try {
        place
            .rig()
            .apply(
                place.namespace(),
                """
                {apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass,
                 metadata: {name: %s}, value: 1000}
                """
                    .formatted(urgent));
        begin(place, "train", "team", urgent);
        begin(place, "sweep", "other", urgent);
        KubernetesPlace.until(
            () ->
                order
                    .ahead(next.gang())
                    .equals(Optional.of(ahead("train (16 GPUs)", "1 of other queues"))),
            () -> order.ahead(next.gang()).toString());
        KubernetesPlace.until(
            () -> heard.stream().anyMatch(words -> words.startsWith("3 in the queue team: ")),
            heard::toString);
      } finally {
        place.kubectl("delete", "jobs", "train", "sweep", "--ignore-not-found");
        place.rig().kubectl("delete", "workloadpriorityclass", urgent);
      }
      behind.cancel();
      waiting.cancel();
      KubernetesPlace.until(() -> order.ahead(request.gang()).isEmpty());
      assertEquals(List.of(), backend.release(running, BackendContract.LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }

  /** Another user's Job, which waits for 16 GPUs. */
  private static void begin(KubernetesPlace place, String name, String queue, String priority)
      throws Exception {
    place
        .rig()
        .apply(
            place.namespace(),
            """
            apiVersion: batch/v1
            kind: Job
            metadata:
              name: %s
              labels: {kueue.x-k8s.io/queue-name: %s, kueue.x-k8s.io/priority-class: %s}
            spec:
              suspend: true
              completions: 2
              parallelism: 2
              template:
                spec:
                  restartPolicy: Never
                  containers:
                  - name: trainer
                    image: %s
                    command: [sleep, "600"]
                    resources: {limits: {nvidia.com/gpu: 8}}
            """
                .formatted(name, queue, priority, KubernetesRig.IMAGE));
  }

  /** There are twelve free GPUs, three on each node. */
  @Test
  void whatNoNodeHasFreeIsWaitedFor() throws Exception {
    try (KubernetesPlace place = KubernetesPlace.of("gangs")) {
      place.giveQueue("team", "research");
      place.rig().begin(place.namespace(), "train", 4, 5, KubernetesRig.IMAGE);
      var words =
          Map.of(
              "plain", "there is room for 0 of its 1 node; nothing is reserved meanwhile",
              "native", "0/4 nodes are available: 4 Insufficient nvidia.com/gpu",
              "kueue", "0/4 nodes are available: 4 Insufficient nvidia.com/gpu");
      for (Map.Entry<String, String> each : words.entrySet()) {
        KubernetesBackend backend = place.with(Json.object("gang", each.getKey(), "cpus", 1));
        GangRequest request = place.request(1, BackendContract.LONG);

        assertEquals(
            new Plan.Later(
                "there is room for 0 of 1 node",
                Optional.empty(),
                List.of(place.namespace() + "/train")),
            backend.plan(request));
        assertInstanceOf(
            Plan.Now.class, backend.plan(place.request(1, "H100:3", BackendContract.LONG)));
        assertWaits(backend, request, each.getValue());
        assertEquals(List.of(), place.leftovers());
      }
    }
  }

  @Test
  void aQuotaOfTheNamespaceThatIsUsedUpIsWaitedFor() throws Exception {
    try (KubernetesPlace place = KubernetesPlace.of("gangs")) {
      place.kubectl("create", "quota", "gpus", "--hard=requests.nvidia.com/gpu=8");
      place.rig().begin(place.namespace(), "train", 1, 4, KubernetesRig.IMAGE);
      var words =
          Map.of(
              "plain", "and 8 are wanted beside 4 in use; nothing is reserved meanwhile",
              "native", "exceeded quota: gpus, requested: requests.nvidia.com/gpu=8");
      for (Map.Entry<String, String> each : words.entrySet()) {
        KubernetesBackend backend = place.with(Json.object("gang", each.getKey(), "cpus", 1));
        GangRequest request = place.request(1, BackendContract.LONG);

        assertInstanceOf(Plan.Later.class, backend.plan(request));
        assertInstanceOf(
            Plan.Now.class, backend.plan(place.request(1, "H100:4", BackendContract.LONG)));
        assertWaits(backend, request, each.getValue());
        assertEquals(List.of(), place.leftovers());
      }
    }
  }

  private static void assertWaits(KubernetesBackend backend, GangRequest request, String words)
      throws Exception {
    try (Tasks tasks = Tasks.named("waits", (_, _) -> {})) {
      var heard = new LinkedBlockingQueue<String>();
      tasks.fork("gang", () -> backend.reserve(request, heard::add));
      KubernetesPlace.until(
          () -> heard.stream().anyMatch(said -> said.contains(words)), heard::toString);
    }
  }
}
