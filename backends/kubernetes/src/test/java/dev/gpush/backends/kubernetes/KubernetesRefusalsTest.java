package dev.gpush.backends.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.BackendPlace;
import dev.gpush.testkit.contract.Ended;
import dev.gpush.testkit.rig.KubernetesRig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * What cannot be, or may not, is said and nothing is held. In the profile of the gangs, with pods
 * placed as in the other one, so that both clusters are used side by side.
 */
@ResourceLock(KubernetesRig.GANGS)
@Tag("kubernetes")
final class KubernetesRefusalsTest {
  private static final LeaseTerms LONG = BackendContract.LONG;

  private static KubernetesPlace place() throws Exception {
    return new KubernetesPlace(KubernetesRig.of("gangs"), Json.object("gang", "plain"));
  }

  private static Failure refused(KubernetesBackend backend, GangRequest request) {
    return assertThrows(GpushException.class, () -> backend.reserve(request)).failure();
  }

  // ---- requests that cannot be

  @Test
  void aGpuThatNoNodeHasIsRefusedWithWhatThereIs() throws Exception {
    try (KubernetesPlace place = place()) {
      Plan.Never never =
          assertInstanceOf(
              Plan.Never.class, place.backend().plan(place.request(1, "B200:8", LONG)));

      assertEquals("no node there has B200", never.reason());
      assertEquals(List.of("--gpus H100:8"), never.works());
      assertInstanceOf(
          BackendFailure.NeverFits.class,
          refused(place.backend(), place.request(1, "H100:9", LONG)));
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void aQuotaThatIsTooSmallIsSaidAndNothingIsHeld() throws Exception {
    try (KubernetesPlace place = place()) {
      place.kubectl("create", "quota", "none", "--hard=requests.nvidia.com/gpu=8");

      Plan.Never never =
          assertInstanceOf(Plan.Never.class, place.backend().plan(place.request(2, LONG)));
      assertTrue(never.reason().contains("gives 8 of nvidia.com/gpu, and 16"), never::reason);
      BackendFailure.NeverFits failure =
          assertInstanceOf(
              BackendFailure.NeverFits.class, refused(place.backend(), place.request(2, LONG)));
      assertTrue(failure.reason().contains("quota"), failure::reason);
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void aPolicyThatRefusesPodsIsSaid() throws Exception {
    try (KubernetesPlace place = place()) {
      place.kubectl(
          "label", "namespace", place.namespace(), "pod-security.kubernetes.io/enforce=restricted");

      BackendFailure.NeverFits failure =
          assertInstanceOf(
              BackendFailure.NeverFits.class, refused(place.backend(), place.request(1, LONG)));

      assertTrue(failure.reason().contains("violates PodSecurity"), failure::reason);
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void imagesThatCannotRunAreToldApart() throws Exception {
    try (KubernetesPlace place = place()) {
      KubernetesBackend bare = place.with(Json.object("image", KubernetesRig.BARE_IMAGE));
      BackendFailure.NeverFits noPython =
          assertInstanceOf(BackendFailure.NeverFits.class, refused(bare, place.request(1, LONG)));
      assertEquals("its image has no Python 3.6 or later", noPython.reason());
      assertTrue(noPython.works().getFirst().startsWith("python-image: "), noPython::toString);

      KubernetesBackend pause = place.with(Json.object("image", "rig.local/pause:1"));
      BackendFailure.NeverFits noShell =
          assertInstanceOf(BackendFailure.NeverFits.class, refused(pause, place.request(1, LONG)));
      assertEquals("its image has no /bin/sh", noShell.reason());

      KubernetesBackend none =
          place.with(Json.object("image", "127.0.0.1:1/acme/train:1", "assembly", 3));
      BackendFailure.ReserveFailed noImage =
          assertInstanceOf(
              BackendFailure.ReserveFailed.class, refused(none, place.request(1, LONG)));
      assertTrue(
          noImage.reason().contains("its image 127.0.0.1:1/acme/train:1 cannot be pulled yet"),
          noImage::reason);
      assertEquals(List.of(), place.leftovers());
    }
  }

  /**
   * With a Python that another image brings: they have a shell and no libc, another libc, nothing.
   */
  @Test
  void imagesWithoutPythonRunWithThatOfAnother() throws Exception {
    try (KubernetesPlace place = place()) {
      for (String image :
          List.of(KubernetesRig.BARE_IMAGE, KubernetesRig.MUSL_IMAGE, "rig.local/pause:1")) {
        KubernetesBackend brought =
            place.with(Json.object("image", image, "python-image", KubernetesRig.IMAGE));

        Gang gang = brought.reserve(place.request(2, LONG));

        assertInstanceOf(Observation.Exists.class, place.backend().observe(gang));
        if (image.equals(KubernetesRig.MUSL_IMAGE)) {
          Pipe pipe = brought.spawn(gang, 1, List.of(KubernetesRig.MUSL_PROGRAM));
          assertEquals("hello from musl", Ended.of(pipe, new byte[0]).output().strip());
        }
        assertEquals(gang, place.backend().discover(BackendPlace.OWNER).getFirst().gang());
        assertEquals(List.of(), place.backend().release(gang, BackendContract.LIMIT));
        assertEquals(List.of(), place.leftovers());
      }
      KubernetesBackend wrong =
          place.with(
              Json.object(
                  "image",
                  KubernetesRig.BARE_IMAGE,
                  "python-image",
                  KubernetesRig.BARE_IMAGE,
                  "assembly",
                  3));
      BackendFailure.ReserveFailed failure =
          assertInstanceOf(
              BackendFailure.ReserveFailed.class, refused(wrong, place.request(1, LONG)));
      assertTrue(failure.reason().contains("its init container gpush-python"), failure::reason);
      assertEquals(List.of(), place.leftovers());
    }
  }

  /** A volume that never comes would hold GPUs for ever: the kubelet does not give up. */
  @Test
  void podsThatNeverBeginAreGivenBackWithTheReason(@TempDir Path folder) throws Exception {
    try (KubernetesPlace place = place()) {
      Path patch = folder.resolve("pod.yaml");
      Files.writeString(
          patch,
          """
          spec:
            volumes: [{name: data, secret: {secretName: none-such}}]
            containers:
            - volumeMounts: [{name: data, mountPath: /data}]
          """);
      KubernetesBackend backend =
          place.with(Json.object("pod", Json.object("patch", patch.toString()), "assembly", 3));
      var said = new LinkedBlockingQueue<String>();

      BackendFailure.ReserveFailed failure =
          assertInstanceOf(
              BackendFailure.ReserveFailed.class,
              assertThrows(
                      GpushException.class,
                      () -> backend.reserve(place.request(1, LONG), said::add))
                  .failure());

      assertTrue(failure.reason().contains("\"none-such\" not found"), failure::reason);
      assertTrue(said.stream().anyMatch(words -> words.contains("none-such")), said::toString);
      assertEquals(List.of(), place.leftovers());
    }
  }

  // ---- ways that are closed

  @Test
  void aWayThatIsNoneIsSaidWithWhatToDo(@TempDir Path folder) throws Exception {
    try (KubernetesPlace place = place()) {
      KubernetesBackend none =
          place.with(Json.object("kubeconfig", folder.resolve("none").toString()));
      assertTrue(unavailable(none).reason().contains("there is no "));

      KubernetesBackend other = place.with(Json.object("context", "elsewhere"));
      assertEquals("there is no context elsewhere; there are rig", unavailable(other).reason());

      Path stranger = folder.resolve("stranger");
      String text =
          Files.readString(place.rig().kubeconfig())
              .replaceFirst("user: \\{client-.*}}]", "user: {token: expired}}]");
      Files.writeString(stranger, text);
      KubernetesBackend expired = place.with(Json.object("kubeconfig", stranger.toString()));
      assertTrue(unavailable(expired).reason().contains("your login"));
    }
  }

  private static BackendFailure.Unavailable unavailable(KubernetesBackend backend) {
    return assertInstanceOf(
        BackendFailure.Unavailable.class,
        assertThrows(GpushException.class, backend::describe).failure());
  }

  /** Somebody with the Role of the guide, and nothing of the cluster, needs no more. */
  @Test
  void theRoleOfTheGuideIsEnough(@TempDir Path folder) throws Exception {
    try (KubernetesPlace place = place()) {
      place.rig().apply(place.namespace(), guide("Role"));
      KubernetesBackend ann = ann(place, folder);

      List<String> explained = ann.explain();
      assertTrue(
          explained.contains("you have all rights that gpush needs there"), explained::toString);
      assertTrue(
          explained.stream().anyMatch(line -> line.contains("list nodes of the cluster")),
          explained::toString);
      Gang gang = ann.reserve(place.request(2, "8", LONG));
      assertEquals(0, Ended.of(ann.spawn(gang, 1, List.of("true")), new byte[0]).status());
      assertEquals(List.of(), ann.release(gang, BackendContract.LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void rightsThatAreMissingAreNamed(@TempDir Path folder) throws Exception {
    try (KubernetesPlace place = place()) {
      KubernetesBackend ann = ann(place, folder);

      List<String> explained = ann.explain();
      assertTrue(
          explained.stream()
              .anyMatch(line -> line.contains("create, get, list, patch, delete jobs")),
          explained::toString);
      assertInstanceOf(BackendFailure.Unavailable.class, refused(ann, place.request(1, "8", LONG)));
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void whoMayNotRunCommandsInPodsGetsNone(@TempDir Path folder) throws Exception {
    try (KubernetesPlace place = place()) {
      String role = guide("Role").replace("verbs: [get, create]}", "verbs: [get]}");
      place.rig().apply(place.namespace(), role);

      BackendFailure.Unavailable failure =
          assertInstanceOf(
              BackendFailure.Unavailable.class,
              refused(ann(place, folder), place.request(1, "8", LONG)));

      assertTrue(failure.reason().contains("you may not create pods/exec"), failure::reason);
      assertEquals(List.of(), place.leftovers());
    }
  }

  /** Of a person with a token and the rights that the namespace gives. */
  private static KubernetesBackend ann(KubernetesPlace place, Path folder) throws Exception {
    place.kubectl("create", "serviceaccount", "ann");
    place.kubectl(
        "create",
        "rolebinding",
        "ann",
        "--role=gpush",
        "--serviceaccount=" + place.namespace() + ":ann");
    String token = place.kubectl("create", "token", "ann");
    Path kubeconfig = folder.resolve("ann");
    Files.writeString(
        kubeconfig,
        Files.readString(place.rig().kubeconfig())
            .replaceFirst("user: \\{client-.*}}]", "user: {token: " + token + "}}]"));
    return place.with(Json.object("kubeconfig", kubeconfig.toString()));
  }

  /** The YAML of the guide that begins with a kind. */
  private static String guide(String kind) throws Exception {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve("docs/guide/kubernetes.md"))) {
      folder = Optional.ofNullable(folder.getParent()).orElseThrow();
    }
    String text = Files.readString(folder.resolve("docs/guide/kubernetes.md"));
    var block = new StringBuilder();
    boolean isIn = false;
    for (String line : text.lines().toList()) {
      isIn =
          line.startsWith("    ")
              && (isIn
                  || line.strip().equals("kind: " + kind)
                  || line.strip().startsWith("apiVersion: rbac"));
      if (isIn) {
        block.append(line.substring(4)).append('\n');
      }
    }
    return block.toString();
  }
}
