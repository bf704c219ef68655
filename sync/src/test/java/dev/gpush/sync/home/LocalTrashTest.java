package dev.gpush.sync.home;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpush.testkit.fake.ManualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LocalTrashTest {
  private final ManualClock clock = new ManualClock();

  @TempDir private Path base;

  private Path written(String name, String text) throws IOException {
    Path file = Files.createDirectories(base.resolve("project")).resolve(name);
    return Files.writeString(file, text);
  }

  private static List<String> names(Path folder) throws IOException {
    try (Stream<Path> all = Files.list(folder)) {
      return all.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void takesFromAnotherDisk() throws IOException {
    Path memory = Path.of("/dev/shm");
    assumeTrue(
        Files.isWritable(memory)
            && !Files.getFileStore(memory).equals(Files.getFileStore(base.toRealPath())),
        "/dev/shm is no disk of its own here");
    Path there = Files.createTempDirectory(memory, "gpush-trash");
    try {
      var trash = new LocalTrash(there, clock);
      Path link = base.resolve("project/latest");

      Path kept = trash.take(written("model.py", "mine"), "model.py");
      Files.createSymbolicLink(link, Path.of("nowhere"));
      Path keptLink = trash.take(link, "latest");

      assertEquals("mine", Files.readString(kept));
      assertEquals(Path.of("nowhere"), Files.readSymbolicLink(keptLink));
      assertTrue(kept.startsWith(there));
      assertEquals(List.of(), names(base.resolve("project")));

      trash.giveBack(kept, base.resolve("project/model.py"));
      assertEquals("mine", Files.readString(base.resolve("project/model.py")));
    } finally {
      try (Stream<Path> all = Files.walk(there).sorted(Comparator.reverseOrder())) {
        for (Path path : all.toList()) {
          Files.delete(path);
        }
      }
    }
  }

  @Test
  void replacesAFileOrALinkAndKeepsWhatWasThere() throws IOException {
    var trash = new LocalTrash(base.resolve("trash"), clock);
    Path by = written("by", "new");
    Path file = written("a", "mine");
    Path link = Files.createSymbolicLink(base.resolve("project/b"), Path.of("nowhere"));
    Path linkBy = Files.createSymbolicLink(base.resolve("project/c"), Path.of("elsewhere"));

    assertFalse(trash.replace(by, file, "a", _ -> false));
    assertEquals("mine", Files.readString(file));
    assertEquals(List.of(), names(base.resolve("trash")), "nothing was replaced");

    assertTrue(trash.replace(by, file, "a", each -> !Files.readString(each).equals("new")));
    assertTrue(trash.replace(linkBy, link, "b", _ -> true));
    Path kept = base.resolve("trash").resolve(names(base.resolve("trash")).getFirst());
    assertEquals("new", Files.readString(file));
    assertEquals("mine", Files.readString(kept.resolve("a")));
    assertEquals(Path.of("elsewhere"), Files.readSymbolicLink(link));
    assertEquals(Path.of("nowhere"), Files.readSymbolicLink(kept.resolve("b")));
  }

  /** Each push of a new gateway failed, because nothing here could be replaced. */
  @Test
  void takesFromAFolderThatWasAFileOrALinkInTheSameSecond() throws IOException {
    var trash = new LocalTrash(base.resolve("trash"), clock);
    Path outside = Files.createDirectories(base.resolve("outside"));
    Path file = trash.take(written("a", "a file"), "a");
    Path link = Files.createSymbolicLink(base.resolve("project/b"), outside);
    trash.take(link, "b");
    Files.createDirectories(base.resolve("project/a/c"));
    Files.createDirectories(base.resolve("project/b"));

    Path below = trash.take(written("a/c/d", "below it"), "a/c/d");
    Path belowLink = trash.take(written("b/d", "below the link"), "b/d");

    assertEquals("a file", Files.readString(file));
    assertEquals("below it", Files.readString(below));
    assertEquals("below the link", Files.readString(belowLink));
    assertEquals(List.of(), names(outside));
  }

  @Test
  void whatCannotBeTakenStays() throws IOException {
    var trash = new LocalTrash(written("file", "no folder"), clock);
    Path mine = written("model.py", "mine");

    assertThrows(IOException.class, () -> trash.take(mine, "model.py"));

    assertEquals("mine", Files.readString(mine));
    assertEquals(List.of("file", "model.py"), names(base.resolve("project")));
  }

  @Test
  void whatWasPutThereSinceTheLastTimeStaysWhateverItsSize() throws IOException {
    var trash = new LocalTrash(base.resolve("trash"), 10, clock);
    Path first = trash.take(written("a", "more than ten bytes"), "a");
    clock.advance(Duration.ofSeconds(2));
    Path second = trash.take(written("b", "more than ten bytes"), "b");
    clock.advance(Duration.ofSeconds(2));
    Path third = trash.take(written("c", "more than ten bytes"), "c");
    trash.prune();
    assertTrue(Files.exists(first) && Files.exists(second) && Files.exists(third));

    clock.advance(Duration.ofSeconds(2));
    Path next = trash.take(written("d", "more than ten bytes"), "d");
    trash.prune();

    assertFalse(Files.exists(first) || Files.exists(second) || Files.exists(third));
    assertTrue(Files.exists(next));
  }
}
