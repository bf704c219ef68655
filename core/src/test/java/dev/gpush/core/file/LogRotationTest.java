package dev.gpush.core.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LogRotationTest {
  @TempDir private Path folder;

  @Test
  void keepsTheNewestFour() throws Exception {
    Path log = folder.resolve("x.log");
    for (int i = 1; i <= 7; i++) {
      Files.writeString(log, "log " + i);
      LogRotation.rotate(log);
      assertFalse(Files.exists(log));
    }

    assertEquals(List.of("x.log.1", "x.log.2", "x.log.3", "x.log.4"), names());
    assertEquals("log 7", Files.readString(folder.resolve("x.log.1")));
    assertEquals("log 4", Files.readString(folder.resolve("x.log.4")));
  }

  @Test
  void withoutALogNothingIsThereAfterwards() throws Exception {
    LogRotation.rotate(folder.resolve("x.log"));

    assertEquals(List.of(), names());
  }

  private List<String> names() throws Exception {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }
}
