package dev.gpush.app.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LogFileTest {
  private static final int ROUNDS = 3;

  @TempDir private Path folder;

  @Test
  void aFullFileIsKeptBesideTheOlderOnes() throws Exception {
    Path path = folder.resolve("gateway.log");
    for (int round = 1; round <= ROUNDS; round++) {
      byte[] nearlyFull = new byte[(int) LogFile.LIMIT_BYTES - 10];
      nearlyFull[0] = (byte) round;
      Files.write(path, nearlyFull);

      try (var log = new LogFile(path)) {
        log.publish(new LogRecord(Level.INFO, "round " + round));
      }

      assertTrue(Files.readString(path).endsWith("round " + round + "\n"));
      assertTrue(Files.size(path) < 100);
    }
    for (int number = 1; number <= ROUNDS; number++) {
      byte[] older = Files.readAllBytes(path.resolveSibling("gateway.log." + number));
      assertEquals(LogFile.LIMIT_BYTES - 10, older.length);
      assertEquals(ROUNDS + 1 - number, older[0]);
    }
  }
}
