package dev.gpush.core.file;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

final class Sha256Test {
  @Test
  void namesOnDisksBeginWithTheHashOfTheirText() {
    assertEquals("ba7816bf", Sha256.hex("abc", 4));
    assertEquals("73414abb9cbd", Sha256.hex("ä/0", 6));
  }
}
