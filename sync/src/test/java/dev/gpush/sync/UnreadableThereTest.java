package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What a node cannot read is left out and named, and stops nothing else; with the real node side.
 */
final class UnreadableThereTest extends SyncFixture {
  /** The folders are removed after the test. */
  @AfterEach
  void open() throws IOException {
    for (FakeNode node : nodes) {
      for (String folder : List.of("d", "new")) {
        Path path = node.folder().path().resolve(folder);
        if (Files.exists(path)) {
          mode(path, "rwxr-xr-x");
        }
      }
    }
  }

  private static void mode(Path path, String mode) throws IOException {
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
  }

  private void pushed() throws Exception {
    nodes(2);
    nodes.forEach(FakeNode::obeysModes);
    laptop.write("train.py", "1").write("d/a.py", "1").write("d/b.py", "1");
    push();
  }

  private Path close(int node, String folder) throws IOException {
    Path path = nodes.get(node).folder().path().resolve(folder);
    mode(path, "---------");
    return path;
  }

  @Test
  void aFolderOfNode0ThatIsClosedIsHeldAndNamed() throws Exception {
    pushed();
    nodes.getFirst().folder().write("made.py", "new").write("train.py", "edited");
    Path closed = close(0, "d");
    laptop.write("here.py", "new").write("d/c.py", "new");

    assertEquals(
        List.of("d/a.py CANNOT_COME 0", "d/b.py CANNOT_COME 0", "d/c.py CHANGED_BOTH 0"), held());

    assertEquals(Map.of("d/", "the node cannot read it: denied"), sync.home().staying());
    assertEquals(Set.of("1", "new", "edited"), Set.copyOf(laptop.texts().values()));
    assertEquals(6, laptop.texts().size());
    for (String path : List.of("here.py", "made.py", "train.py")) {
      assertEquals(laptop.read(path), nodes.getFirst().folder().read(path));
      assertEquals(laptop.read(path), nodes.getLast().folder().read(path));
    }
    mode(closed, "rwxr-xr-x");
    assertAllHold(push());
    assertEquals(Map.of(), sync.home().staying());
  }

  @Test
  void aFolderOfAnotherNodeThatIsClosedIsHeldAndWhatIsDeletedHereStaysThere() throws Exception {
    pushed();
    Path closed = close(1, "d");
    laptop.write("train.py", "2").delete("d/a.py").write("d/b.py", "2");

    assertEquals(List.of("d/b.py OTHER_NODE 1"), held());

    assertEquals("2", nodes.getLast().folder().read("train.py"));
    assertFalse(Files.exists(nodes.getFirst().folder().path().resolve("d/a.py")));
    mode(closed, "rwxr-xr-x");
    assertEquals("1", nodes.getLast().folder().read("d/a.py"));
    push();
    assertEquals("2", nodes.getLast().folder().read("d/b.py"));
  }

  @Test
  void whatCannotBeReadWhileNothingIsPushedStaysHere() throws Exception {
    pushed();
    nodes.getFirst().folder().write("train.py", "edited").write("new/x.py", "1");
    close(0, "d");
    close(0, "new");
    sync.rescan(Optional.empty(), Set.of());

    Homecoming.Came came = comeHome();

    assertEquals(List.of("train.py"), came.paths());
    assertEquals(Set.of("train.py", "d/a.py", "d/b.py"), laptop.texts().keySet());
    assertEquals(
        Map.of("d/", "the node cannot read it: denied", "new/", "the node cannot read it: denied"),
        sync.home().staying());
  }
}
