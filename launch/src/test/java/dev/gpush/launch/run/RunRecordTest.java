package dev.gpush.launch.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.json.Json;
import dev.gpush.core.talk.Trace;
import dev.gpush.core.talk.Trace.Phase;
import dev.gpush.core.talk.Trace.Stage;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RunRecordTest {
  private final RunRecord started =
      RunRecord.from(
              Json.parse(
                  "{\"run\": 7, \"parts\": [{\"node\": 0, \"start_ms\": 0},"
                      + " {\"node\": 1, \"start_ms\": 3000}]}"))
          .orElseThrow()
          .with(new Trace(Duration.ofMillis(4000), List.of(ranks())));

  private static Phase ranks() {
    return new Phase(Stage.RANKS, Duration.ofMillis(4000), "starting the ranks");
  }

  private static void assertOutput(int milliseconds, RunRecord record) {
    Trace trace = record.progress().trace();
    Phase output = trace.phase(Stage.OUTPUT).orElseThrow();
    assertEquals(List.of(ranks(), output), trace.phases());
    assertEquals(milliseconds, output.took().toMillis());
    assertEquals(4000 + milliseconds, trace.took().toMillis());
  }

  @Test
  void theFirstOutputIsThatOfTheNodeThatPrintsFirstAfterAllHaveStarted() {
    RunRecord late = started.printed(1, Duration.ofMillis(2000));
    assertOutput(2000, late);
    assertOutput(500, late.printed(0, Duration.ofMillis(3500)));
    assertOutput(2000, late.printed(0, Duration.ofMillis(5500)));
    assertOutput(0, late.printed(0, Duration.ofMillis(100)));
  }
}
