package dev.gpush.core.talk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import org.junit.jupiter.api.Test;

final class HowFarTest {
  @Test
  void whatIsCountedIsInTheText() {
    assertEquals(
        new HowFar("312 of 900 files read", 312, 900), HowFar.count(312, 900, "files read"));
    assertFalse(HowFar.words("312 of 900").isCounted());
  }

  /** A node may ask for a content again. */
  @Test
  void moreThanThereWasToDoIsAll() {
    assertEquals(new HowFar("7 of 7 sent", 7, 7), HowFar.count(7, 6, "sent"));
  }
}
