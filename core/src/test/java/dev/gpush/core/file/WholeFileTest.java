package dev.gpush.core.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WholeFileTest {
  @TempDir Path folder;

  @Test
  void takesTheNameWithThePermissions() throws IOException {
    Path file = folder.resolve("config");
    for (String mode : List.of("rwx------", "rw-r--r--", WholeFile.PRIVATE)) {
      WholeFile.write(file, mode, mode);

      assertEquals(mode, Files.readString(file));
      assertEquals(mode, PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    }
    assertEquals(List.of(file), files());
  }

  @Test
  void writesDurably() throws IOException {
    Path file = folder.resolve("entry");
    WholeFile.writeDurably(file, "one");
    WholeFile.writeDurably(file, "two");

    assertEquals("two", Files.readString(file));
    assertEquals(List.of(file), files());
  }

  @Test
  void whatFailsLeavesTheOldFile() throws IOException {
    Path file = folder.resolve("cache");
    WholeFile.write(file, "old", WholeFile.PRIVATE);

    assertThrows(
        IOException.class,
        () ->
            WholeFile.write(
                file,
                out -> {
                  out.write('n');
                  throw new IOException("no space left on device");
                }));

    assertEquals("old", Files.readString(file));
    assertEquals(List.of(file), files());
  }

  @Test
  void anInterruptDoesNotEndAWrite() throws IOException {
    Path file = folder.resolve("record");
    Thread.currentThread().interrupt();

    WholeFile.write(file, "one", WholeFile.PRIVATE);
    WholeFile.writeDurably(file, "two");

    assertTrue(Thread.interrupted());
    assertEquals("two", Files.readString(file));
    assertEquals(List.of(file), files());
  }

  private List<Path> files() throws IOException {
    try (var files = Files.list(folder)) {
      return files.toList();
    }
  }
}
