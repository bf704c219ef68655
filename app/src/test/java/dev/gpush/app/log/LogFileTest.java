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
  /** Three times the limit of 8 MiB, in lines of 4 kB. */
  private static final int RECORDS = 6500;

  @TempDir private Path folder;

  @Test
  void noFileGrowsBeyondTheLimitAndTheOlderOnesAreKept() throws Exception {
    Path path = folder.resolve("gateway.log");
    Files.writeString(path, "what the last gateway said\n");

    try (var log = new LogFile(path)) {
      for (int i = 0; i < RECORDS; i++) {
        log.publish(new LogRecord(Level.INFO, "record " + i + " " + "x".repeat(4000)));
      }
    }

    assertTrue(Files.size(path) <= LogFile.LIMIT_BYTES);
    assertTrue(Files.readString(path).contains("record " + (RECORDS - 1)));
    long lines = 0;
    for (String name : new String[] {"", ".1", ".2", ".3"}) {
      lines += Files.readString(path.resolveSibling("gateway.log" + name)).lines().count();
    }
    assertEquals(RECORDS + 1, lines);
  }
}
