package dev.gpush.core.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HomePartTest {
  @TempDir private Path folder;

  @Test
  void isMadeOnce() throws Exception {
    Path part = folder.resolve("ledger");

    assertEquals(part, HomePart.make(part));
    assertEquals(part, HomePart.make(part));
  }

  @Test
  void doesNotBringBackAHomeThatWasRemoved() {
    Path home = folder.resolve("home");

    assertThrows(NoSuchFileException.class, () -> HomePart.make(home.resolve("ledger")));

    assertFalse(Files.exists(home));
  }

  @Test
  void isNotAFile() throws Exception {
    Path file = Files.createFile(folder.resolve("ledger"));

    assertThrows(FileAlreadyExistsException.class, () -> HomePart.make(file));
  }
}
