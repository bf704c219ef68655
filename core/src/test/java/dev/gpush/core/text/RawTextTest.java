package dev.gpush.core.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RawTextTest {
  private static final int ROUNDS = 20_000;
  private static final int LONGEST = 24;

  /** What Python makes of the same bytes with {@code decode("utf-8", "surrogateescape")}. */
  @ParameterizedTest
  @CsvSource({
    "'', ''",
    "61, a",
    "c3a9, \u00e9",
    "f09f9880, \ud83d\ude00",
    "efbfbd, \ufffd",
    "e9, \udce9",
    "636166e9, caf\udce9",
    "e92e747874, \udce9.txt",
    "c3, \udcc3",
    "c3c3a9, \udcc3\u00e9",
    "e282, \udce2\udc82",
    "e28261, \udce2\udc82a",
    "f09f98, \udcf0\udc9f\udc98",
    "f09f9880ff, \ud83d\ude00\udcff",
    "efbfbdff, \ufffd\udcff",
    "c080, \udcc0\udc80",
    "edb280, \udced\udcb2\udc80",
    "eda080edb080, \udced\udca0\udc80\udced\udcb0\udc80",
    "f4908080, \udcf4\udc90\udc80\udc80",
    "f5ff, \udcf5\udcff",
  })
  void readsBytesAsPythonDoesAndGivesThemBack(String hex, String text) {
    byte[] bytes = HexFormat.of().parseHex(hex);

    String read = RawText.decode(bytes);

    assertEquals(text, read);
    assertArrayEquals(bytes, RawText.encode(read));
    assertEquals(new String(bytes, StandardCharsets.UTF_8).equals(read), RawText.isUtf8(read));
  }

  @Test
  void givesBackAnyBytesAlsoThroughJson() {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.err.println("RawTextTest seed " + seed + " (-Dgpush.seed)");
    var random = new Random(seed);
    for (int i = 0; i < ROUNDS; i++) {
      byte[] bytes = anyBytes(random);

      String text = RawText.decode(bytes);
      String json = new Json.Text(text).write();
      byte[] wire = json.getBytes(StandardCharsets.UTF_8);

      assertArrayEquals(bytes, RawText.encode(text), "seed " + seed);
      assertEquals(
          new Json.Text(text),
          Json.parse(new String(wire, StandardCharsets.UTF_8)),
          "seed " + seed);
    }
  }

  /** Random bytes seldom are UTF-8 over more than one; letters between them are. */
  private static byte[] anyBytes(Random random) {
    var bytes = new byte[random.nextInt(LONGEST)];
    random.nextBytes(bytes);
    if (random.nextBoolean()) {
      byte[] letters = "a\u00e9\u20ac\ud83d\ude00".getBytes(StandardCharsets.UTF_8);
      int count = Math.min(bytes.length, random.nextInt(letters.length + 1));
      System.arraycopy(letters, 0, bytes, bytes.length - count, count);
    }
    return bytes;
  }

  @Test
  void readsAPartOfAnArray() {
    byte[] bytes = HexFormat.of().parseHex("ff61e9ff");

    assertEquals("a\udce9", RawText.decode(bytes, 1, 2));
  }

  @Test
  void makesQuestionMarksOfHalvesThatMeanNoByte() {
    assertArrayEquals("?a".getBytes(StandardCharsets.UTF_8), RawText.encode("\ud83da"));
    assertArrayEquals("?".getBytes(StandardCharsets.UTF_8), RawText.encode("\udc00"));
    assertTrue(RawText.isUtf8("\ud83d"));
    assertFalse(RawText.isUtf8("\udc80"));
  }
}
