package dev.gpush.backends.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class MarkedInputTest {
  private static final String MARKER = "aab0aab0";

  @Test
  void outputBeginsBehindTheMarkerHoweverItComes() throws IOException {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.out.println("outputBeginsBehindTheMarkerHoweverItComes -Dgpush.seed=" + seed);
    var random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      String noise = "Welcome aab0aab\naab0".repeat(random.nextInt(3000) * random.nextInt(2));
      byte[] output = new byte[random.nextInt(20_000)];
      random.nextBytes(output);
      var all = new ByteArrayOutputStream();
      all.writeBytes((noise + MARKER + "\n").getBytes(StandardCharsets.UTF_8));
      all.writeBytes(output);

      var input = new MarkedInput(inPieces(all.toByteArray(), random), MARKER);

      assertArrayEquals(output, input.readAllBytes());
    }
  }

  @Test
  void withoutMarkerWhatWasSaidIsThere() throws IOException {
    var input =
        new MarkedInput(
            new ByteArrayInputStream("no such shell".getBytes(StandardCharsets.UTF_8)), MARKER);

    assertEquals("no such shell", new String(input.readAllBytes(), StandardCharsets.UTF_8));
  }

  private static InputStream inPieces(byte[] bytes, Random random) {
    return new ByteArrayInputStream(bytes) {
      @Override
      public int read(byte[] into, int offset, int length) {
        return super.read(into, offset, Math.min(length, 1 + random.nextInt(60)));
      }
    };
  }
}
