package dev.gpush.backends.kubernetes.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.kubernetes.cluster.ClusterRoom;
import dev.gpush.backends.kubernetes.cluster.Fabric;
import dev.gpush.backends.kubernetes.cluster.KubernetesNode;
import dev.gpush.backends.kubernetes.cluster.KubernetesSettings;
import dev.gpush.backends.kubernetes.cluster.PodShape;
import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.backends.kubernetes.cluster.Topology;
import dev.gpush.backends.kubernetes.gangs.KueueGang;
import dev.gpush.backends.kubernetes.gangs.PodGroupGang;
import dev.gpush.backends.kubernetes.gangs.YunikornGang;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.Requester;
import dev.gpush.core.json.Json;
import dev.gpush.testkit.contract.BackendPlace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a request becomes pods, without a cluster. */
final class GangObjectsTest {
  private static final Topology NOWHERE = new Topology(List.of());

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

  /** It would run on when the agent has ended, and the pod would keep its GPUs. */
  @Test
  void noServiceMeshPutsAProxyIntoAPodUnlessThatIsConfigured() {
    assertEquals(Optional.of("false"), istio(Json.object("image", "i")));
    assertEquals(
        Optional.of("true"),
        istio(
            Json.object(
                "image",
                "i",
                "pod",
                Json.object("labels", Json.object("sidecar.istio.io/inject", "true")))));
  }

  private static Optional<String> istio(Json.Obj values) {
    Json job =
        new GangObjects(
                request("devbox"),
                settings(values),
                new PodShape(Optional.empty(), 0, List.of(), "", 4000, 1 << 30, Map.of()),
                true,
                NOWHERE)
            .job(List.of("agent"));
    Json.Obj metadata = job.object("spec").object("template").object("metadata");
    assertEquals(Optional.of("disabled"), metadata.object("annotations").text("linkerd.io/inject"));
    return metadata.object("labels").text("sidecar.istio.io/inject");
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

  private static Json.Obj pod(Json job) {
    return job.object("spec").object("template").object("spec");
  }
}
