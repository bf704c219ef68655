package dev.gpush.backends.kubernetes.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PodPatchTest {
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
}
