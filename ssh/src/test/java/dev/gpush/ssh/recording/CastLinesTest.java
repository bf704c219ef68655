package dev.gpush.ssh.recording;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CastLinesTest {
  private static final RecordedTerminal TERMINAL =
      new RecordedTerminal("devbox", "ann", "2k-1", 0, "xterm", RecordedTerminal.Size.of(132, 50));

  private static Cast cast(List<byte[]> pieces) {
    var out = new GrowingBytes();
    var lines = new CastLines(1_000, out);
    for (byte[] piece : pieces) {
      lines.output(1_000, ByteBuffer.wrap(piece));
    }
    lines.end(1_000);
    var all = new ArrayList<>(List.of(CastLines.header(TERMINAL, Instant.EPOCH).strip()));
    all.addAll(StandardCharsets.UTF_8.decode(out.view()).toString().lines().toList());
    return Cast.parse(all);
  }

  private static byte[] bytes(int... values) {
    var bytes = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      bytes[i] = (byte) values[i];
    }
    return bytes;
  }

  @Test
  void hasTheTimeInSecondsAndTheSize() {
    var out = new GrowingBytes();
    var lines = new CastLines(5_000_000_000L, out);

    lines.output(6_020_003_999L, StandardCharsets.UTF_8.encode("hé\r\n"));
    lines.resized(7_000_000_000L, RecordedTerminal.Size.of(80, 24));

    assertEquals(
        "[1.020003, \"o\", \"hé\\r\\n\"]\n[2.000000, \"r\", \"80x24\"]\n",
        StandardCharsets.UTF_8.decode(out.view()).toString());
    assertEquals(
        "{\"version\":2,\"width\":132,\"height\":50,\"timestamp\":0,\"title\":\"ann on devbox\","
            + "\"env\":{\"TERM\":\"xterm\"}}\n",
        CastLines.header(TERMINAL, Instant.EPOCH).replace(": ", ":").replace(", ", ","));
  }

  @Test
  void joinsACharacterThatIsCut() {
    byte[] text = "a€b😀c".getBytes(StandardCharsets.UTF_8);
    for (int cut = 0; cut <= text.length; cut++) {
      Cast cast =
          cast(List.of(Arrays.copyOf(text, cut), Arrays.copyOfRange(text, cut, text.length)));

      assertArrayEquals(text, cast.bytes());
      assertTrue(cast.events().stream().allMatch(event -> event.code().equals("o")));
    }
  }

  @Test
  void findsEveryByteAtEveryPlace() {
    for (int value = 0; value < 0x100; value++) {
      for (int at = 0; at < 3 * Long.BYTES; at++) {
        byte[] text = "The quick brown fox jumps over".getBytes(StandardCharsets.US_ASCII);
        text[at] = (byte) value;

        assertArrayEquals(text, cast(List.of(text)).bytes(), value + " at " + at);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "c0 80",
        "e0 9f bf",
        "ed a0 80",
        "f4 90 80 80",
        "f5 80 80 80",
        "80",
        "ff fe",
        "e2 82",
        "c3",
        "f0 9f 98",
        "e2 28 a1",
        "c3 c3 a9"
      })
  void keepsBytesThatAreNoText(String hex) {
    byte[] wrong =
        bytes(Arrays.stream(hex.split(" ")).mapToInt(each -> Integer.parseInt(each, 16)).toArray());

    Cast cast = cast(List.of(wrong));

    assertArrayEquals(wrong, cast.bytes());
    assertEquals("b", cast.events().getFirst().code());
    assertTrue(cast.events().get(1).data().contains("\ufffd"));
  }

  @Test
  void keepsAnyBytesInAnyPieces() {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    var random = new Random(seed);
    for (int round = 0; round < 300; round++) {
      var all = new ByteArrayOutputStream();
      var pieces = new ArrayList<byte[]>();
      for (int i = random.nextInt(8); i >= 0; i--) {
        byte[] piece = piece(random);
        pieces.add(piece);
        all.writeBytes(piece);
      }

      Cast cast = cast(pieces);

      assertArrayEquals(all.toByteArray(), cast.bytes(), "seed " + seed + " round " + round);
    }
  }

  /** Random bytes, or text that is cut anywhere. */
  private static byte[] piece(Random random) {
    byte[] bytes = new byte[random.nextInt(40)];
    random.nextBytes(bytes);
    if (random.nextBoolean()) {
      var text = new StringBuilder();
      random.ints(10, 0, 0x11000).filter(Character::isDefined).forEach(text::appendCodePoint);
      byte[] whole = text.toString().getBytes(StandardCharsets.UTF_8);
      return Arrays.copyOfRange(whole, random.nextInt(3), whole.length - random.nextInt(3));
    }
    return bytes;
  }

  @Test
  void judgesCharactersAsTheJdkDoes() {
    for (int code = 0; code < 0x110000; code += 7) {
      if (code < 0xd800 || code > 0xdfff) {
        byte[] one = new String(Character.toChars(code)).getBytes(StandardCharsets.UTF_8);
        assertEquals(one.length, Utf8.length(one, 0, one.length));
        assertEquals(0, Utf8.cutAtEnd(one));
      }
    }
    var random = new Random(7);
    byte[] four = new byte[4];
    for (int i = 0; i < 100_000; i++) {
      random.nextBytes(four);
      int length = Utf8.length(four, 0, 4);
      assertEquals(isOneCharacter(four, Math.max(1, length)), length > 0);
    }
  }

  private static boolean isOneCharacter(byte[] bytes, int length) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, 0, length));
      return true;
    } catch (CharacterCodingException no) {
      return false;
    }
  }
}
