package dev.gpush.backends.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.backends.kubernetes.cluster.KubernetesSettings;
import dev.gpush.backends.kubernetes.cluster.RecordedServer;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.json.Json;
import dev.gpush.testkit.fake.ManualClock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The server's clock is at the epoch. */
final class JobDeadlineTest {
  private static final long EIGHT_HOURS = 28_800;

  private static Map<String, String> changes(String start, List<Json> statuses) throws Exception {
    var changes = new HashMap<String, String>();
    var settings =
        KubernetesSettings.of(
            new BackendConfig("k8s", "kubernetes", Json.object("image", "i"), ""));
    var place = new Namespace("k8s", settings, new RecordedServer(changes), new ManualClock());
    Json job =
        Json.object(
            "metadata",
            Json.object("name", "devbox-1"),
            "spec",
            Json.object("activeDeadlineSeconds", EIGHT_HOURS + 60),
            "status",
            Json.object("startTime", start));

    new JobDeadline(place).keepAfter(job, statuses);

    return changes;
  }

  private static Json left(double seconds) {
    return Json.object("hard_left_s", seconds);
  }

  @Test
  void movesWhenAgentsHaveStartedLate() throws Exception {
    assertEquals(
        Map.of(
            "PATCH /apis/batch/v1/namespaces/default/jobs/devbox-1",
            "{\"spec\":{\"activeDeadlineSeconds\":" + (900 + EIGHT_HOURS + 60) + "}}"),
        changes("1969-12-31T23:45:00Z", List.of(left(EIGHT_HOURS - 30), left(EIGHT_HOURS))));
  }

  @Test
  void staysAfterAUsualStartAndWithoutAHardEnd() throws Exception {
    assertEquals(Map.of(), changes("1969-12-31T23:59:40Z", List.of(left(EIGHT_HOURS - 0.1))));
    assertEquals(Map.of(), changes("1969-12-31T23:45:00Z", List.of(Json.object())));
  }
}
