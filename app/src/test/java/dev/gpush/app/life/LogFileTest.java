package dev.gpush.app.life;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class LogFileTest {
  private static final int ROUNDS = 3;

  @TempDir private Path folder;

  @AfterEach
  void restore() throws Exception {
    LogManager.getLogManager().readConfiguration();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void gpushWritesInfoAndOnRequestDebug(boolean debug) throws Exception {
    Path path = folder.resolve("gateway.log");

    LogFile.install(path, debug);
    System.Logger session = System.getLogger("gpush.session");
    session.log(System.Logger.Level.INFO, "of the session");
    session.log(System.Logger.Level.DEBUG, "a decision");
    System.getLogger("gpush.main").log(System.Logger.Level.INFO, "of the gateway");
    System.getLogger("org.library").log(System.Logger.Level.INFO, "of a library");

    String text = Files.readString(path);
    assertEquals(2, text.lines().filter(line -> line.contains(" INFO  ")).count(), text);
    assertTrue(text.contains(" INFO  session of the session\n"), text);
    assertTrue(text.contains(" INFO  main of the gateway\n"), text);
    assertEquals(debug, text.contains(" DEBUG session a decision\n"), text);
  }

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
