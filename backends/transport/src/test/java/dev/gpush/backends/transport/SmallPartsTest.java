package dev.gpush.backends.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SmallPartsTest {
  private static final String MARKER = "aab0aab0";

  @Test
  void aDestinationIsReadAndWritten() {
    assertEquals(
        new Destination("h1", Optional.empty(), Optional.empty()), Destination.parse("h1"));
    assertEquals(
        new Destination("gpu01.lab", Optional.of("ann"), Optional.of(2222)),
        Destination.parse("ann@gpu01.lab:2222"));
    assertEquals(
        new Destination("fe80::1%eth0", Optional.empty(), Optional.of(22)),
        Destination.parse("[fe80::1%eth0]:22"));
    for (String text : new String[] {"h1", "ann@h1", "h1:2222", "a@b.c:1", "[::1]:22", "[::1]"}) {
      assertEquals(text, Destination.parse(text).toString());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-oProxyCommand=id",
        "a b",
        "a:b:c:d@",
        "@h",
        "h:",
        "h:0",
        "h:70000",
        "-u@h",
        "a\nb",
        "h;id",
        "$(id)"
      })
  void whatIsNoDestinationIsRefused(String text) {
    assertThrows(IllegalArgumentException.class, () -> Destination.parse(text));
  }

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
