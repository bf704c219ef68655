package dev.gpush.backends.kubernetes.pods;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.kubernetes.objects.GangObjects;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Why pods are not there, in the words of API servers, schedulers and kubelets. */
final class PodFailureTest {
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
}
