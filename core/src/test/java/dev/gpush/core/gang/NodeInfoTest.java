package dev.gpush.core.gang;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.json.Json;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class NodeInfoTest {
  private static final NodeInfo NODE =
      new NodeInfo(
          3, "gpu04", "10.0.0.4", List.of("0", "1"), "H100", 96, "/nvme/project", List.of("rack1"));

  @Test
  void whatWasWrittenIsRead() {
    assertEquals(NODE, NodeInfo.from(Json.parse(NODE.json().write())));
  }

  /** Read as 0, it would be another node. */
  @ParameterizedTest
  @ValueSource(longs = {-1, 1L << 31, 1L << 32, Long.MAX_VALUE})
  void aNumberThatNoNodeHasIsRefused(long number) {
    Json.Obj wrong = NODE.json().with("node", number);

    assertThrows(IllegalArgumentException.class, () -> NodeInfo.from(wrong));
  }

  @Test
  void aNodeWithoutANumberIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> NodeInfo.from(Json.object("host", "a")));
  }
}
