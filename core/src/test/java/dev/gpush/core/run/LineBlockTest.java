package dev.gpush.core.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class LineBlockTest {
  @Test
  void givesEachLineWithoutItsLineFeed() {
    byte[] bytes = "rest\none\n\ntwo\r\nbeginning".getBytes(StandardCharsets.UTF_8);
    var lines = new ArrayList<String>();

    LineBlock.of(bytes, 5, 15).forEach(line -> lines.add(new String(line, StandardCharsets.UTF_8)));

    assertEquals(List.of("one", "", "two\r"), lines);
  }

  @Test
  void refusesABlockThatDoesNotEndWithALine() {
    byte[] bytes = "one\ntwo".getBytes(StandardCharsets.UTF_8);

    assertThrows(IllegalArgumentException.class, () -> LineBlock.of(bytes, 0, 7));
    assertThrows(IllegalArgumentException.class, () -> LineBlock.of(bytes, 4, 4));
    assertThrows(IndexOutOfBoundsException.class, () -> LineBlock.of(bytes, 0, 8));
  }
}
