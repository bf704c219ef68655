package dev.gpush.core.gang;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.json.Json;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class LeaseTermsTest {
  private static List<Duration> warnings(String status) {
    return LeaseTerms.warnings(Json.parse(status));
  }

  @Test
  void theWarningsAreThoseThatTheAgentSays() {
    assertEquals(
        List.of(Duration.ofHours(1), Duration.ofMillis(1500)),
        warnings("{\"warn_s\":[3600.0,1.5]}"));
    assertEquals(List.of(), warnings("{\"warn_s\":[]}"));
    assertEquals(
        List.of(Duration.ofMinutes(30), Duration.ofMinutes(15), Duration.ofMinutes(5)),
        warnings("{}"),
        "of an earlier gpush");
  }

  @Test
  void whatAnAgentCannotMeanDoesNoHarm() {
    assertEquals(List.of(), warnings("{\"warn_s\":{\"a\":1}}"));
    assertEquals(List.of(Duration.ofSeconds(5)), warnings("{\"warn_s\":[\"1h\",null,5]}"));
    assertEquals(1, warnings("{\"warn_s\":[1e300]}").size());
    assertEquals(16, warnings("{\"warn_s\":[" + "1,".repeat(99) + "1]}").size());
  }
}
