package dev.gpush.backends.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.kubernetes.cluster.ClusterRoom;
import dev.gpush.backends.kubernetes.cluster.Fabric;
import dev.gpush.backends.kubernetes.cluster.KubernetesNode;
import dev.gpush.backends.kubernetes.cluster.KubernetesSettings;
import dev.gpush.backends.kubernetes.cluster.PodShape;
import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.backends.kubernetes.cluster.Quantity;
import dev.gpush.backends.kubernetes.cluster.RecordedServer;
import dev.gpush.backends.kubernetes.cluster.Topology;
import dev.gpush.backends.kubernetes.gangs.KueueGang;
import dev.gpush.backends.kubernetes.gangs.PodGroupGang;
import dev.gpush.backends.kubernetes.gangs.YunikornGang;
import dev.gpush.backends.kubernetes.objects.GangObjects;
import dev.gpush.backends.kubernetes.objects.PodPatch;
import dev.gpush.backends.kubernetes.objects.PodShaping;
import dev.gpush.backends.kubernetes.pods.AttachedPods;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.kubernetes.pods.PodFailure;
import dev.gpush.backends.kubernetes.pods.PodHistory;
import dev.gpush.backends.kubernetes.pods.PodRefusal;
import dev.gpush.backends.kubernetes.pods.Pods;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.Requester;
import dev.gpush.core.json.Json;
import dev.gpush.testkit.contract.BackendPlace;
import dev.gpush.testkit.fake.ManualClock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What needs no cluster: words of API servers, kubelets and people. */
final class PartsTest {
  private static final Topology NOWHERE = new Topology(List.of());

  @ParameterizedTest
  @CsvSource({
    "2, 2",
    "1500m, 2",
    "24581696Ki, 25171656704",
    "1Gi, 1073741824",
    "1e3, 1000",
    "1E, 1000000000000000000",
    "0.5, 1",
    "99999999999999999E, 9223372036854775807",
    "-1, -1"
  })
  void readsQuantities(String text, long whole) {
    assertEquals(Optional.of(whole), Quantity.whole(text));
  }

  @Test
  void anyTextIsAQuantityOrNone() {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    System.out.println("PartsTest.anyTextIsAQuantityOrNone: gpush.seed=" + seed);
    var random = new Random(seed);
    String letters = "0123456789.eEmMkKiIGTP+-nu ";
    for (int round = 0; round < 5000; round++) {
      var text = new StringBuilder();
      for (int i = random.nextInt(12); i > 0; i--) {
        text.append(letters.charAt(random.nextInt(letters.length())));
      }
      Optional<Long> whole = Quantity.whole(text.toString());
      assertEquals(whole.isPresent(), Quantity.millis(text.toString()).isPresent());
    }
    assertEquals(Optional.of(1500L), Quantity.millis("1.5"));
    assertEquals(Optional.empty(), Quantity.whole(""));
    assertEquals(Optional.empty(), Quantity.whole("Gi"));
  }

  @Test
  void aGangIsCalledLikeItsSession() {
    assertTrue(GangObjects.name(request("devbox")).matches("devbox-[0-9a-f]{8}"));
    assertTrue(GangObjects.name(request("My_Box.2")).matches("my-box-2-[0-9a-f]{8}"));
    assertTrue(GangObjects.name(request("42")).matches("gang-[0-9a-f]{8}"));
    assertTrue(GangObjects.name(request("x".repeat(99))).length() < 52);
  }

  private static GangRequest request(String session) {
    GangRequest any =
        BackendPlace.fresh(
            new SecureRandom(),
            2,
            "H100:8",
            new LeaseTerms(Optional.empty(), Duration.ofHours(1)),
            Map.of());
    return GangRequest.of(
        any.gang(),
        new Requester(
            any.requester().owner(), any.requester().holder(), session, any.requester().project()),
        any.nodes(),
        any.gpus(),
        any.lease());
  }

  @Test
  void aQuotaThatIsUsedUpIsWaitedForAndOneThatIsTooSmallIsNot() {
    var small =
        new PodRefusal(
            "Error creating: pods \"a-0-x\" is forbidden: exceeded quota: q, requested:"
                + " requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=8, limited:"
                + " requests.nvidia.com/gpu=8");
    assertTrue(small.words().startsWith("exceeded quota: q"), small::words);
    assertTrue(small.isHopeless(2));
    assertFalse(small.isHopeless(1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Error creating: pods \"a-0-x\" is forbidden: violates PodSecurity \"restricted:latest\"",
        "Error creating: admission webhook \"validate.kyverno.svc-fail\" denied the request: no",
        "Error creating: Pod \"a-0-x\" is invalid: spec.containers[0].image: Required value",
      })
  void aDecisionAgainstAPodStays(String message) {
    assertTrue(new PodRefusal(message).isHopeless(1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Error creating: Internal error occurred: failed calling webhook \"v.kyverno.svc-fail\":"
            + " failed to call webhook: Post \"https://kyverno.svc:443/mutate\": context deadline"
            + " exceeded",
        "Error creating: etcdserver: request timed out",
        "Error creating: pods \"a-0-x\" is forbidden: not yet ready to handle request",
        "Error creating: pods \"a-0-x\" is forbidden: status unknown for quota: q, resources: pods",
      })
  void anAnswerThatFailedMayComeLater(String message) {
    assertFalse(new PodRefusal(message).isHopeless(1));
  }

  @Test
  void saysWhatTheSchedulerSaysWithoutItsAdvice() {
    assertEquals(
        "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 Insufficient"
            + " nvidia.com/gpu",
        PodFailure.scheduler(
            "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 Insufficient"
                + " nvidia.com/gpu. no new claims to deallocate, preemption: 0/4 nodes are"
                + " available"));
  }

  @Test
  void namesWhatBecameOfAPod() {
    assertEquals(
        "it was killed because its memory was used up (OOMKilled)",
        PodFailure.of(ended("OOMKilled", 137)).words());
    assertEquals(PodFailure.Kind.NO_PYTHON, PodFailure.of(ended("Error", 97)).kind());
    assertEquals(
        "it was evicted: its node is being drained",
        PodFailure.of(disrupted("EvictionByEvictionAPI")).words());
    assertEquals(
        "it was preempted by a pod with a higher priority",
        PodFailure.of(disrupted("PreemptionByScheduler")).words());
    assertEquals(
        "it was evicted: The node was low on resource: memory.",
        PodFailure.of(
                Json.object(
                    "status",
                    Json.object(
                        "phase",
                        "Failed",
                        "reason",
                        "Evicted",
                        "message",
                        "The node was low on resource: memory.")))
            .words());
  }

  @Test
  void whatTookAPodAwayIsKnownWhenAnotherHasComeForIt() {
    var gang = new GangId("4f1ac109114f1ac1");
    var past = new PodHistory();
    Json gone = pod("train-1-aaaaa", 1, Json.object("phase", "Running"), true);
    Json drained =
        pod(
            "train-2-aaaaa",
            2,
            disrupted("EvictionByEvictionAPI").object("status").with("phase", "Running"),
            true);
    Json killed =
        pod(
            "train-3-aaaaa",
            3,
            ended("OOMKilled", 137).object("status").with("phase", "Failed"),
            false);
    Json well = pod("train-4-aaaaa", 4, Json.object("phase", "Running"), false);

    past.seen(gang, new Pods(List.of(gone, drained, killed, well)));

    assertEquals(Optional.of("its pod was deleted"), past.why(gang, 1, "train-1-bbbbb"));
    assertEquals(Optional.empty(), past.why(gang, 1, "train-1-aaaaa"));
    assertEquals(
        Optional.of("it was evicted: its node is being drained"),
        past.why(gang, 2, "train-2-bbbbb"));
    assertEquals(
        Optional.of("it was killed because its memory was used up (OOMKilled)"),
        past.why(gang, 3, "train-3-bbbbb"));
    assertEquals(Optional.empty(), past.why(gang, 4, "train-4-bbbbb"));
    past.forget(gang);
    assertEquals(Optional.empty(), past.why(gang, 2, "train-2-bbbbb"));
  }

  @Test
  void whatRunsBeforehandIsNamedWhenItDoesNot() {
    Json failed =
        Json.object(
            "status",
            Json.object(
                "initContainerStatuses",
                List.of(
                    Json.object(
                        "name",
                        "fetch",
                        "state",
                        Json.object("waiting", Json.object("reason", "CrashLoopBackOff")),
                        "lastState",
                        Json.object(
                            "terminated", Json.object("reason", "Error", "exitCode", 3))))));

    assertEquals(
        "its init container fetch: its container ended with 3", PodFailure.of(failed).words());
    assertEquals(PodFailure.Kind.RETRIED, PodFailure.of(failed).kind());
    assertEquals(Optional.of("fetch"), PodFailure.speaker(failed));
  }

  @Test
  void theContainerOfOtherPeoplesPodsIsTheOneThatKubectlWouldTake() {
    List<Json> two = List.of(Json.object("name", "proxy"), Json.object("name", "trainer"));
    Json named =
        Json.object(
            "metadata",
            Json.object(
                "annotations", Json.object("kubectl.kubernetes.io/default-container", "trainer")),
            "spec",
            Json.object("containers", two));

    assertEquals("trainer", AttachedPods.container(named));
    assertEquals(
        "proxy", AttachedPods.container(Json.object("spec", Json.object("containers", two))));
  }

  /**
   * The widest part that all of them name; a provider's labels count only if all nodes have them.
   */
  @Test
  void theNetworkIsWhatNodesSayOfIt() {
    KubernetesNode a =
        at(Map.of("topology.kubernetes.io/zone", "z1", "nvidia.com/gpu.clique", "c1"));
    KubernetesNode b = at(Map.of("topology.kubernetes.io/zone", "z1"));
    KubernetesSettings none = settings(Json.object("image", "i"));
    KubernetesSettings racks =
        settings(Json.object("image", "i", "topology", List.of("block", "rack")));

    assertEquals(List.of("z1", "c1"), Topology.of(none, Optional.of(List.of(a))).of(a));
    assertEquals(List.of("z1"), Topology.of(none, Optional.of(List.of(a, b))).of(b));
    assertEquals(List.of(), Topology.of(none, Optional.empty()).labels());
    assertEquals(List.of("", ""), Topology.of(racks, Optional.of(List.of(a))).of(a));
  }

  private static KubernetesNode at(Map<String, String> labels) {
    return new KubernetesNode("n", true, List.of(), labels, Map.of(), Map.of());
  }

  private static Json ended(String reason, int code) {
    return Json.object(
        "status",
        Json.object(
            "containerStatuses",
            List.of(
                Json.object(
                    "name",
                    GangObjects.CONTAINER,
                    "state",
                    Json.object("terminated", Json.object("reason", reason, "exitCode", code))))));
  }

  private static Json pod(String name, int node, Json.Obj status, boolean isEnding) {
    return Json.object(
        "metadata",
        Json.object(
            "name",
            name,
            "annotations",
            Json.object("batch.kubernetes.io/job-completion-index", Integer.toString(node)),
            "deletionTimestamp",
            isEnding ? Optional.of("2026-01-01T00:00:00Z") : Optional.empty()),
        "status",
        status);
  }

  private static Json disrupted(String reason) {
    return Json.object(
        "status",
        Json.object(
            "conditions",
            List.of(Json.object("type", "DisruptionTarget", "status", "True", "reason", reason))));
  }

  // ---- patches

  @Test
  void aPatchIsLaidOverThePod(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("pod.yaml");
    Files.writeString(
        file,
        """
        spec:
          serviceAccountName: trainer
          hostNetwork: true
          volumes: [{name: data, persistentVolumeClaim: {claimName: sets}}]
          containers:
          - volumeMounts: [{name: data, mountPath: /data}, {name: own, mountPath: /workspace}]
            env: [{name: A, value: "1"}]
            resources: {limits: {rdma/ib: "1"}}
        """);
    Json.Obj ours =
        Json.object(
            "spec",
            Json.object(
                "template",
                Json.parse(
                    """
                    {"spec": {"volumes": [{"name": "w"}], "containers": [{"name": "gpush",
                      "image": "i", "volumeMounts": [{"name": "w", "mountPath": "/workspace"}],
                      "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}}
                    """)));

    Json pod =
        PodPatch.laid(ours, PodPatch.read("k8s", file.toString()))
            .object("spec")
            .object("template");

    assertEquals(
        Json.parse(
            """
            {"spec": {"volumes": [{"name": "w"},
               {"name": "data", "persistentVolumeClaim": {"claimName": "sets"}}],
              "containers": [{"name": "gpush", "image": "i",
               "volumeMounts": [{"name": "own", "mountPath": "/workspace"},
                 {"name": "data", "mountPath": "/data"}],
               "resources": {"limits": {"nvidia.com/gpu": "8", "rdma/ib": "1"}},
               "env": [{"name": "A", "value": "1"}]}],
              "serviceAccountName": "trainer", "hostNetwork": true}}
            """),
        Json.parse(pod.write()));
  }

  @Test
  void portsAreMergedByNumberAndProtocol(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("pod.yaml");
    Files.writeString(
        file,
        "spec: {containers: [{ports: [{containerPort: 53, protocol: UDP, name: dns},"
            + " {containerPort: 8080, hostPort: 80}]}]}");
    Json job =
        Json.parse(
            """
            {"spec": {"template": {"spec": {"containers": [{"name": "gpush",
              "ports": [{"containerPort": 53}, {"containerPort": 8080, "name": "web"}]}]}}}}
            """);

    Json merged = PodPatch.laid((Json.Obj) job, PodPatch.read("k8s", file.toString()));

    assertEquals(
        Json.parse(
            """
            {"spec": {"template": {"spec": {"containers": [{"name": "gpush",
              "ports": [{"containerPort": 53},
                {"containerPort": 8080, "name": "web", "hostPort": 80},
                {"containerPort": 53, "protocol": "UDP", "name": "dns"}]}]}}}}
            """),
        Json.parse(merged.write()));
  }

  @Test
  void aPatchThatIsNoneIsRefusedWithItsLine(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("pod.yaml");
    Files.writeString(file, "spec:\n  a: 1\n  a: 2\n");
    assertTrue(refusal(file).contains("line 3"), () -> refusal(file));
    Files.writeString(file, "containers: []\n");
    assertTrue(refusal(file).contains("not with containers"), () -> refusal(file));
    Files.writeString(file, "spec: {volumes: [{name: w, $patch: delete}]}\n");
    assertTrue(refusal(file).contains("it has no $patch"), () -> refusal(file));
    Files.delete(file);
    assertTrue(refusal(file).contains("cannot be read"), () -> refusal(file));
  }

  private static String refusal(Path file) {
    return assertInstanceOf(
            BackendFailure.Unavailable.class,
            assertThrows(GpushException.class, () -> PodPatch.read("k8s", file.toString()))
                .failure())
        .reason();
  }

  // ---- requests and what there is

  @Test
  void whoMayNotSeeNodesNamesModelsByHand() {
    var blind = new ClusterRoom(Optional.empty(), Optional.empty());
    KubernetesSettings none = settings(Json.object("image", "i"));
    PodShaping.Result.Hopeless hopeless =
        assertInstanceOf(
            PodShaping.Result.Hopeless.class,
            new PodShaping(request("devbox"), none, blind).result());
    assertTrue(hopeless.works().get(1).contains("gpus: {names: {H100: LABEL=VALUE}}"));

    KubernetesSettings named =
        settings(
            Json.object(
                "image",
                "i",
                "gpus",
                Json.object("names", Json.object("H100", "gpu.nvidia.com/class=H100_NVLINK"))));
    PodShape shape =
        assertInstanceOf(
                PodShaping.Result.Fits.class,
                new PodShaping(request("devbox"), named, blind).result())
            .shape();
    assertEquals(Optional.of("nvidia.com/gpu"), shape.resource());
    assertTrue(shape.terms().getFirst().write().contains("[\"H100_NVLINK\"]"), shape::toString);
  }

  @Test
  void aPlaceWithoutAnImageSaysSo() {
    PodShaping.Result.Hopeless hopeless =
        assertInstanceOf(
            PodShaping.Result.Hopeless.class,
            new PodShaping(
                    request("devbox"),
                    settings(Json.object()),
                    new ClusterRoom(Optional.empty(), Optional.empty()))
                .result());
    assertEquals("its pods need an image", hopeless.reason());
  }

  @Test
  void aQuotaForOtherPodsDoesNotCount() throws Exception {
    String small = "\"status\": {\"hard\": {\"requests.nvidia.com/gpu\": \"1\"}}";
    String low = "{\"spec\": {\"scopes\": [\"Terminating\"]}, " + small + "}";
    String selected = "{\"spec\": {\"scopeSelector\": {\"matchExpressions\": []}}, " + small + "}";
    PodShape shape =
        new PodShape(Optional.of("nvidia.com/gpu"), 8, List.of(), "H100", 1, 1, Map.of());

    assertEquals(Optional.empty(), plan(low + "," + selected).quota(shape));
    assertInstanceOf(Plan.Never.class, plan("{" + small + "}").quota(shape).orElseThrow());
  }

  private static KubernetesPlan plan(String quotas) {
    var api =
        new RecordedServer(
            Map.of("/api/v1/namespaces/default/resourcequotas", "{\"items\": [" + quotas + "]}"));
    var place = new Namespace("k8s", settings(Json.object("image", "i")), api, new ManualClock());
    return new KubernetesPlan(place, request("devbox"));
  }

  /** The configuration's {@code time: {max: …}} was read and never looked at. */
  @Test
  void longerThanTheConfigurationAllowsNeverFits() {
    KubernetesSettings settings =
        settings(Json.object("image", "i", "time", Json.object("max", 3600)));
    var blind = new ClusterRoom(Optional.empty(), Optional.empty());
    for (Duration asked : List.of(Duration.ofHours(1), Duration.ofMinutes(61))) {
      GangRequest any = request("devbox");
      var lease = new LeaseTerms(Optional.of(asked), Duration.ofHours(1));
      GangRequest request =
          GangRequest.of(any.gang(), any.requester(), 1, GpuRequest.none(), lease);

      PodShaping.Result result = new PodShaping(request, settings, blind).result();

      if (asked.equals(Duration.ofHours(1))) {
        assertInstanceOf(PodShaping.Result.Fits.class, result);
      } else {
        assertEquals(
            new PodShaping.Result.Hopeless(
                "the configuration allows at most 1h", List.of("--for 1h")),
            result);
      }
    }
  }

  private static KubernetesSettings settings(Json.Obj values) {
    return KubernetesSettings.of(new BackendConfig("k8s", "kubernetes", values, ""));
  }

  @Test
  void gangsOfSeveralNodesAskForTheirShareOfTheNetwork() {
    ClusterRoom room =
        new ClusterRoom(
            Optional.of(
                List.of(
                    node(Map.of("rdma/ib", 8L, "rdma/hca_shared_devices_a", 63L)),
                    node(Map.of("rdma/ib", 8L, "rdma/hca_shared_devices_a", 63L)))),
            Optional.of(List.of()));

    assertEquals(
        Map.of("rdma/ib", 8L, "rdma/hca_shared_devices_a", 1L),
        fabric(request("devbox"), Json.object("image", "i"), room));
    assertEquals(
        Map.of(), fabric(request("devbox"), Json.object("image", "i", "fabric", "none"), room));
    assertEquals(
        Map.of(),
        Fabric.of(List.of(node(Map.of("rdma/ib", 1L)), node(Map.of())), "nvidia.com/gpu", 8));
    assertEquals(
        Map.of("rdma/ib", 1L),
        Fabric.of(List.of(node(Map.of("rdma/ib", 1L))), "nvidia.com/gpu", 2));
  }

  @Test
  void podsLockMemoryOnlyWhereTheyMayAndNeedTo() {
    PodShape shape =
        new PodShape(
            Optional.of("nvidia.com/gpu"), 8, List.of(), "H100", 1, 1, Map.of("rdma/ib", 1L));
    KubernetesSettings settings = settings(Json.object("image", "i"));

    String may =
        new GangObjects(request("a"), settings, shape, true, NOWHERE).job(List.of("a")).write();
    assertTrue(may.contains("IPC_LOCK") && may.contains("\"rdma/ib\":\"1\""), may);
    String mayNot =
        new GangObjects(request("a"), settings, shape, false, NOWHERE).job(List.of("a")).write();
    assertFalse(mayNot.contains("IPC_LOCK"), mayNot);
    String needNot =
        new GangObjects(request("a"), settings, shape.with(Map.of()), true, NOWHERE)
            .job(List.of("a"))
            .write();
    assertFalse(needNot.contains("IPC_LOCK"), needNot);
  }

  private static Map<String, Long> fabric(GangRequest request, Json.Obj values, ClusterRoom room) {
    return assertInstanceOf(
            PodShaping.Result.Fits.class, new PodShaping(request, settings(values), room).result())
        .shape()
        .fabric();
  }

  private static KubernetesNode node(Map<String, Long> devices) {
    var has = new HashMap<>(devices);
    has.putAll(Map.of("nvidia.com/gpu", 8L, "cpu", 64_000L, "memory", 1L << 40, "pods", 110L));
    return new KubernetesNode(
        "n", true, List.of(), Map.of("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"), has, has);
  }

  // ---- what schedulers want to see

  @Test
  void everySchedulerGetsItsOwnMarks() {
    var manifest =
        new GangObjects(
            request("devbox"),
            settings(Json.object("image", "i")),
            new PodShape(
                Optional.of("nvidia.com/gpu"), 8, List.of(), "H100", 4000, 1 << 30, Map.of()),
            true,
            new Topology(List.of("block", "rack")));
    Json.Obj job = manifest.job(List.of("agent"));

    Json volcano =
        new PodGroupGang(PodGroupGang.Kind.VOLCANO, "v1beta1", Optional.of("ml"))
            .marked(job, manifest);
    assertEquals("volcano", pod(volcano).text("schedulerName").orElse(""));
    Json kai =
        new PodGroupGang(PodGroupGang.Kind.KAI, "v2alpha2", Optional.of("ml"))
            .marked(job, manifest);
    assertEquals(
        "ml",
        kai.object("spec")
            .object("template")
            .object("metadata")
            .object("labels")
            .text("kai.scheduler/queue")
            .orElse(""));
    Json yunikorn =
        new YunikornGang(Optional.of("root.ml"), Duration.ofMinutes(2)).marked(job, manifest);
    String groups =
        yunikorn
            .object("spec")
            .object("template")
            .object("metadata")
            .object("annotations")
            .text("yunikorn.apache.org/task-groups")
            .orElse("");
    Json group = Json.parse(groups).items().getFirst();
    assertEquals(2L, group.number("minMember").orElseThrow());
    assertEquals(
        Map.of("cpu", "4000m", "memory", "1073741824", "nvidia.com/gpu", "8"),
        group.object("minResource").textMap());
    String wishes = job.object("spec").object("template").object("spec").object("affinity").write();
    assertTrue(
        wishes.contains("\"weight\":50,\"podAffinityTerm\":{\"topologyKey\":\"block\"")
            && wishes.contains("\"weight\":100,\"podAffinityTerm\":{\"topologyKey\":\"rack\""),
        wishes);
    Json kueue = new KueueGang("team", "v1beta2", Optional.of("rack")).marked(job, manifest);
    assertEquals(
        "team",
        kueue.object("metadata").object("labels").text("kueue.x-k8s.io/queue-name").orElse(""));
    assertEquals(
        "rack",
        kueue
            .object("spec")
            .object("template")
            .object("metadata")
            .object("annotations")
            .text("kueue.x-k8s.io/podset-preferred-topology")
            .orElse(""));
  }

  @Test
  void placeholdersOfYunikornAreLikeThePodsTheyHoldPlacesFor(@TempDir Path folder)
      throws Exception {
    Path file = folder.resolve("pod.yaml");
    Files.writeString(
        file,
        """
        spec:
          nodeSelector: {pool: train}
          containers:
          - resources: {limits: {rdma/ib: 1}}
          - {name: side, image: s, resources: {requests: {cpu: 1500m, memory: 1Gi}}}
        """);
    var manifest =
        new GangObjects(
            request("devbox"),
            settings(Json.object("image", "i", "pod", Json.object("patch", file.toString()))),
            new PodShape(
                Optional.of("nvidia.com/gpu"), 8, List.of(), "H100", 4000, 1 << 30, Map.of()),
            true,
            NOWHERE);

    Json job =
        new YunikornGang(Optional.empty(), Duration.ofMinutes(2))
            .marked(manifest.job(List.of("agent")), manifest);

    Json.Obj metadata = job.object("spec").object("template").object("metadata");
    Json group =
        Json.parse(
                metadata
                    .object("annotations")
                    .text("yunikorn.apache.org/task-groups")
                    .orElseThrow())
            .items()
            .getFirst();
    assertEquals(
        Map.of("cpu", "5.500", "memory", "2147483648", "nvidia.com/gpu", "8", "rdma/ib", "1"),
        group.object("minResource").textMap());
    assertEquals(Map.of("pool", "train"), group.object("nodeSelector").textMap());
    assertEquals(pod(job).get("tolerations"), group.get("tolerations"));
    assertEquals(
        metadata.object("labels").text(PodTag.GANG_LABEL),
        group.object("labels").text(PodTag.GANG_LABEL));
    assertEquals(
        Optional.of("placeholderTimeoutInSeconds=240 gangSchedulingStyle=Hard"),
        metadata.object("annotations").text("yunikorn.apache.org/schedulingPolicyParameters"));
  }

  @Test
  void ofPodsThatWaitTheOneOfWhichSomethingIsSaidSpeaks() {
    Json silent = Json.object("metadata", Json.object("name", "a"));
    Json refused =
        Json.parse(
            """
            {"metadata": {"name": "b"}, "status": {"conditions": [{"type": "PodScheduled",
              "status": "False", "message": "0/4 nodes are available: 4 Insufficient cpu."}]}}
            """);

    assertEquals(
        Optional.of("0/4 nodes are available: 4 Insufficient cpu."),
        new Pods(List.of(silent, refused)).unplaced());
    assertEquals(
        Optional.of("the scheduler has not considered it yet"),
        new Pods(List.of(silent)).unplaced());
  }

  private static Json.Obj pod(Json job) {
    return job.object("spec").object("template").object("spec");
  }
}
