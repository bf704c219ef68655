package dev.gpush.link.frame;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The frames that both sides agree on. A vector has {@code frame} (both ways), {@code error} (the
 * rule that it breaks; what is wrong with a JSON payload shows when it is read) or {@code ignored}.
 */
class FrameGoldenTest {
  private final FrameCodec codec = new FrameCodec();

  @TestFactory
  Stream<DynamicTest> agreesWithTheGoldenFrames() throws IOException {
    try (InputStream input =
        Objects.requireNonNull(getClass().getResourceAsStream("/golden/frames.json"))) {
      Json all = Json.parse(new String(input.readAllBytes(), StandardCharsets.UTF_8));
      return all.items().stream()
          .map(
              vector ->
                  DynamicTest.dynamicTest(vector.text("name").orElseThrow(), () -> check(vector)));
    }
  }

  private void check(Json vector) throws IOException {
    byte[] bytes = HexFormat.of().parseHex(vector.text("hex").orElseThrow());
    var reader = new FrameReader(new ByteArrayInputStream(bytes));
    if (vector.flag("ignored")) {
      assertTrue(reader.next().isEmpty());
      return;
    }
    if (vector.text("error").isPresent()) {
      var broken = assertThrows(ProtocolException.class, () -> reader.next().orElseThrow().json());
      assertEquals(vector.text("error").orElseThrow(), broken.rule());
      return;
    }
    Frame expected = frame(vector.object("frame"));
    assertEquals(expected, reader.next().orElseThrow());
    assertTrue(reader.next().isEmpty());
    assertEquals(ByteBuffer.wrap(bytes), codec.encode(expected));
    if (vector.object("frame").get("json").isPresent()) {
      assertEquals(vector.object("frame").object("json"), expected.json());
    }
  }

  private static Frame frame(Json wanted) {
    byte[] payload =
        wanted
            .get("json")
            .map(json -> json.write().getBytes(StandardCharsets.UTF_8))
            .orElseGet(() -> HexFormat.of().parseHex(wanted.text("payload_hex").orElseThrow()));
    return new Frame(
        FrameKind.valueOf(wanted.text("kind").orElseThrow()),
        wanted.number("flags").orElseThrow().intValue(),
        wanted.number("stream").orElseThrow().intValue(),
        wanted.number("sequence").orElseThrow(),
        ByteBuffer.wrap(payload));
  }
}
