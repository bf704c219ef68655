package dev.gpush.core.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class LineBlockTest {
  @Test
  void givesEachLineWithoutItsLineFeed() {
    byte[] bytes = "rest\none\n\ntwo\r\nbeginning".getBytes(StandardCharsets.UTF_8);
    var lines = new ArrayList<String>();

    LineBlock.of(bytes, 5, 15).forEach(line -> lines.add(new String(line, StandardCharsets.UTF_8)));

    assertEquals(List.of("one", "", "two\r"), lines);
  }

  /** Bytes beside a line feed's value, at all places, are what a search by words gets wrong. */
  @Test
  void findsEveryLineFeedAmongAllBytes() {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    var random = new Random(seed);
    for (int round = 0; round < 2_000; round++) {
      var bytes = new byte[1 + random.nextInt(60)];
      random.nextBytes(bytes);
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = random.nextInt(3) == 0 ? (byte) (9 + random.nextInt(3)) : bytes[i];
      }
      bytes[bytes.length - 1] = '\n';
      int from = random.nextInt(bytes.length);
      var lines = new ArrayList<String>();

      LineBlock.of(bytes, from, bytes.length)
          .forEach(line -> lines.add(new String(line, StandardCharsets.ISO_8859_1)));

      String text = new String(bytes, from, bytes.length - from, StandardCharsets.ISO_8859_1);
      assertEquals(
          List.of(text.substring(0, text.length() - 1).split("\n", -1)), lines, "seed " + seed);
    }
  }

  @Test
  void refusesABlockThatDoesNotEndWithALine() {
    byte[] bytes = "one\ntwo".getBytes(StandardCharsets.UTF_8);

    assertThrows(IllegalArgumentException.class, () -> LineBlock.of(bytes, 0, 7));
    assertThrows(IllegalArgumentException.class, () -> LineBlock.of(bytes, 4, 4));
    assertThrows(IndexOutOfBoundsException.class, () -> LineBlock.of(bytes, 0, 8));
  }
}
