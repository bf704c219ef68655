package dev.gpush.sync.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.json.Json;
import dev.gpush.sync.node.NodeHolds.Deviation;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

final class NodeHoldsTest {
  private static Instant changed(long seconds) {
    List<Object> now = List.of("file", 1, "%064x".formatted(1), false, seconds);
    return Instant.ofEpochSecond(
        Deviation.parse("a", "changed", Json.array(now)).orElseThrow().seconds());
  }

  /** tmpfs keeps any time that fits into 64 bits. */
  @Test
  void aTimeThatNoClockShowsIsNotKnown() {
    assertEquals(Instant.ofEpochSecond(1_700_000_000), changed(1_700_000_000));
    assertEquals(Instant.EPOCH, changed(400_000_000_000_000_000L));
    assertEquals(Instant.EPOCH, changed(Long.MIN_VALUE));
  }

  /** An agent that lies may go on for ever. */
  @Test
  void moreNamesThanAnAgentSaysAreNotKept() {
    var names = new FoundNames.Builder();
    int count = 0;
    while (count < FoundNames.Builder.MOST && names.add(part(Integer.toString(count)))) {
      count++;
    }

    assertEquals(FoundNames.Builder.MOST / 2, count);
  }

  private static Json part(String folder) {
    List<Object> name = List.of("a", "file", 1, "stamp", false, false);
    return Json.object("folders", List.of(List.of(folder, List.of(name), true)));
  }
}
