package dev.gpush.backends.kubernetes.pods;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.kubernetes.cluster.KubernetesSettings;
import dev.gpush.backends.kubernetes.cluster.RecordedServer;
import dev.gpush.backends.kubernetes.pods.PodFailure.Kind;
import dev.gpush.backends.kubernetes.pods.StartupEvents.Trouble;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.json.Json;
import dev.gpush.testkit.fake.ManualClock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Starts that fail: what may pass by itself has time, what never passes has none. */
final class StartupEventsTest {
  private static final String EVENTS =
      "/api/v1/namespaces/ml/events?fieldSelector=involvedObject.kind%3DPod";

  private static final Json BUSY =
      waiting(
          "ImagePullBackOff", "Back-off pulling image \"acme/denied:1\": 429 Too Many Requests");

  private final ManualClock clock = new ManualClock();
  private final Map<String, String> answers = new HashMap<>();
  private final StartupEvents events =
      new StartupEvents(
          new Namespace(
              "k8s",
              KubernetesSettings.of(
                  new BackendConfig(
                      "k8s", "kubernetes", Json.object("namespace", "ml", "assembly", 60), "")),
              new RecordedServer(answers),
              clock));

  private static Json waiting(String reason, String message) {
    Json state = Json.object("waiting", Json.object("reason", reason, "message", message));
    return Json.object(
        "metadata",
        Json.object("name", "pod-0", "uid", "u"),
        "spec",
        Json.object("nodeName", "n1", "containers", List.of(Json.object("name", "gpush"))),
        "status",
        Json.object(
            "phase",
            "Pending",
            "containerStatuses",
            List.of(Json.object("name", "gpush", "state", state))));
  }

  @ParameterizedTest(name = "{1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "ImagePullBackOff | Back-off pulling image \"a\": 429 Too Many Requests | RETRIED",
        "ImagePullBackOff | Back-off pulling image \"acme/denied\" | RETRIED",
        "ErrImagePull | dial tcp: lookup ghcr.io: no such host | RETRIED",
        "ErrImagePull | failed to do request: Head https://r.io/v2/denied: EOF | RETRIED",
        "ImagePullBackOff | Back-off pulling image \"a\": ErrImagePull: a: not found | REFUSED",
        "ErrImagePull | manifest unknown | REFUSED",
        "ErrImagePull | pull access denied for a | REFUSED",
        "ErrImagePull | 401 Unauthorized | REFUSED",
        "ErrImagePull | HEAD request to https://r.io: 403 Forbidden | REFUSED",
        "ErrImagePull | no basic auth credentials | REFUSED",
        "InvalidImageName | couldn't parse image name | REFUSED",
        "ErrImageNeverPull | image is not present with pull policy of Never | REFUSED",
        "CreateContainerConfigError | failed to sync secret cache: timed out | RETRIED",
        "RunContainerError | exec: \"/bin/sh\": no such file or directory | NO_PYTHON",
      })
  void whatMayPassByItselfIsTriedAgain(String reason, String message, Kind kind) {
    assertEquals(kind, PodFailure.of(waiting(reason, message)).kind());
  }

  /** The names in front are longer than what is shown of a message. */
  @Test
  void theRegistrysOwnWordsAreShown() {
    String image = "123456789012.dkr.ecr.us-east-1.amazonaws.com/team/train:2026-11";
    String url = "https://123456789012.dkr.ecr.us-east-1.amazonaws.com/v2/team/train/manifests/1";
    String message =
        "Back-off pulling image \"%1$s\": ErrImagePull: failed to pull and unpack image \"%1$s\":"
            + " failed to resolve reference \"%1$s\": unexpected status from HEAD request to "
            + url
            + ": 403 Forbidden";

    assertEquals(
        "its image cannot be pulled: unexpected status from HEAD request to "
            + url
            + ": 403 Forbidden; the cluster's token for the registry may have expired",
        PodFailure.of(waiting("ImagePullBackOff", message.formatted(image))).words());
  }

  private void lastEvent(String type, String reason) {
    Json.Obj event =
        Json.object(
            "involvedObject",
            Json.object("uid", "u"),
            "source",
            Json.object("component", "kubelet"),
            "type",
            type,
            "reason",
            reason,
            "message",
            "says " + reason);
    answers.put(EVENTS, Json.object("items", List.of(event)).write());
  }

  private Optional<Trouble> looked(Json pod, Duration later) throws Exception {
    clock.advance(later);
    return Optional.ofNullable(events.of(new Pods(List.of(indexed(pod))).starting()).get("pod-0"));
  }

  private static Json indexed(Json pod) {
    Json.Obj metadata = new Json.Obj(pod.object("metadata").entries());
    return new Json.Obj(pod.entries())
        .with(
            "metadata",
            metadata.with("labels", Json.object("batch.kubernetes.io/job-completion-index", "0")));
  }

  @Test
  void aPullThatFailsHasTheTimeOfAnAssembly() throws Exception {
    lastEvent("Normal", "BackOff");

    looked(BUSY, Duration.ZERO);
    assertEquals(Optional.of(new Trouble("", false)), looked(BUSY, Duration.ofSeconds(6)));
    lastEvent("Warning", "Failed");
    assertFalse(looked(BUSY, Duration.ofSeconds(60)).orElseThrow().isLasting());
    assertTrue(looked(BUSY, Duration.ofSeconds(1)).orElseThrow().isLasting());
  }

  @Test
  void aRefusalIsLastingOnceTheKubeletHasTriedAgain() throws Exception {
    Json refused = waiting("ImagePullBackOff", "401 Unauthorized");
    lastEvent("Normal", "BackOff");

    looked(refused, Duration.ZERO);
    looked(refused, Duration.ofSeconds(6));
    assertFalse(looked(refused, Duration.ofSeconds(30)).orElseThrow().isLasting());
    lastEvent("Normal", "Pulling");
    assertFalse(looked(refused, Duration.ofSeconds(1)).orElseThrow().isLasting());
    lastEvent("Normal", "BackOff");
    assertTrue(looked(refused, Duration.ofSeconds(1)).orElseThrow().isLasting());
  }

  @Test
  void aSecondPullMayTakeLong() throws Exception {
    lastEvent("Normal", "Pulling");

    looked(BUSY, Duration.ZERO);
    looked(BUSY, Duration.ofSeconds(6));
    assertFalse(looked(BUSY, Duration.ofHours(1)).orElseThrow().isLasting());
    lastEvent("Normal", "BackOff");
    assertTrue(looked(BUSY, Duration.ofSeconds(1)).orElseThrow().isLasting());
  }
}
