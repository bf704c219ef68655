package dev.gpush.ssh.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class TerminalModesTest {
  @Test
  void readsTerminalModesUpToTheirEnd() {
    byte[] encoded = {53, 0, 0, 0, 1, 3, 0, 0, 0, 127, 0, 9, 9, 9, 9, 9};

    assertEquals(Map.of(53, 1L, 3, 127L), TerminalModes.parse(encoded));
  }

  @Test
  void readsBrokenTerminalModesAsFarAsTheyGo() {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    var random = new Random(seed);
    for (int i = 0; i < 10_000; i++) {
      var bytes = new byte[random.nextInt(40)];
      random.nextBytes(bytes);
      TerminalModes.parse(bytes);
    }
    assertEquals(Map.of(), TerminalModes.parse(new byte[] {53, 0, 0}), "seed " + seed);
  }
}
