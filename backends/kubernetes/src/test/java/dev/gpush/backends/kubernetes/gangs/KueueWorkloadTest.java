package dev.gpush.backends.kubernetes.gangs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.backends.kubernetes.gangs.GangSystem.Waiting;
import dev.gpush.core.json.Json;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class KueueWorkloadTest {
  private static final String USED =
      "insufficient unused quota for nvidia.com/gpu in flavor default, 8 more needed";
  private static final String SMALL =
      "insufficient quota for nvidia.com/gpu in flavor small, previously considered podsets"
          + " requests (0) + current podset request (16) > maximum capacity (4)";

  private static Optional<Waiting> waiting(String status) {
    return new KueueWorkload(Json.parse("{\"status\": " + status + "}")).waiting();
  }

  private static Optional<Waiting> unreserved(String reason, String message) {
    return waiting(
        """
        {"conditions": [{"type": "QuotaReserved", "status": "False", "reason": "%s",
          "message": "couldn't assign flavors to pod set main: %s"}]}
        """
            .formatted(reason, message));
  }

  @Test
  void saysWhatTheQuotaLacks() {
    assertEquals(Optional.of(new Waiting(USED, false)), unreserved("WaitingForQuota", USED));
    assertEquals(
        Optional.of(new Waiting("it is not its turn yet", false)), waiting("{\"conditions\": []}"));
  }

  @Test
  void onlyAQuotaThatIsTooSmallInAllFlavorsIsHopeless() {
    assertEquals(Optional.of(new Waiting(SMALL, true)), unreserved("ExceedsMaxQuota", SMALL));
    assertEquals(Optional.of(new Waiting(SMALL, true)), unreserved("Pending", SMALL));
    String both = SMALL + ", " + USED;
    assertEquals(Optional.of(new Waiting(both, false)), unreserved("WaitingForQuota", both));
    assertEquals(Optional.of(new Waiting(both, false)), unreserved("Pending", both));
  }

  @Test
  void whatHasQuotaWaitsForChecksOrForItsPods() {
    String reserved = "{\"type\": \"QuotaReserved\", \"status\": \"True\"}";
    String admitted = "{\"type\": \"Admitted\", \"status\": \"True\"}";

    assertEquals(
        Optional.of(
            new Waiting(
                "it has quota and waits for the admission check new-nodes (2 nodes are made)",
                false)),
        waiting(
            """
            {"conditions": [%s], "admissionChecks": [
              {"name": "budget", "state": "Ready", "message": ""},
              {"name": "new-nodes", "state": "Pending", "message": "2 nodes are made"}]}
            """
                .formatted(reserved)));
    assertEquals(
        Optional.empty(), waiting("{\"conditions\": [" + reserved + ", " + admitted + "]}"));
  }
}
