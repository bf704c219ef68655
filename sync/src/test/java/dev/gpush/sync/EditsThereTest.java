package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.SyncFailure.Conflict;
import dev.gpush.sync.tree.Generation;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Edits of an editor on node 0, with the real node side. */
final class EditsThereTest extends SyncFixture {
  @Test
  void anEditOnNode0ComesHomeAndGoesToAllNodes() throws Exception {
    nodes(3);
    laptop.write("a.py", "1").write("d/b.py", "1").write("c.py", "1");
    laptop.executable("c.py", true);
    Files.setPosixFilePermissions(
        laptop.path().resolve("a.py"), PosixFilePermissions.fromString("rw-------"));
    Generation first = push();
    nodes
        .getFirst()
        .folder()
        .write("a.py", "edited")
        .write("d/b.py", "edited, too")
        .write("c.py", "x");
    nodes.get(2).folder().write("d/b.py", "edited, too");
    laptop.write("new.py", "1");

    Generation moved = push();

    assertEquals(first.counter() + 1, moved.counter());
    assertAllHold(moved);
    assertEquals("edited", laptop.read("a.py"));
    assertEquals("edited, too", laptop.read("d/b.py"));
    assertEquals("x", laptop.read("c.py"));
    for (FakeNode node : nodes) {
      assertEquals(laptop.tree(), node.folder().tree());
    }
    assertEquals(
        "rw-------",
        PosixFilePermissions.toString(
            Files.getPosixFilePermissions(laptop.path().resolve("a.py"))));
    assertTrue(Files.isExecutable(laptop.path().resolve("c.py")));
    assertTrue(
        talk.said.contains("edited on node 0, and now here as well: a.py, c.py, d/b.py"),
        talk.said::toString);
    assertEquals(List.of(), talk.asked);
  }

  @Test
  void whatWasEditedHereAsWellOrOnAnotherNodeStaysAConflict() throws Exception {
    nodes(2);
    laptop.write("a", "1").write("b", "1").write("c", "1");
    Generation first = push();
    WorkFolder editors = nodes.getFirst().folder();
    editors.write("a", "there");

    laptop.write("a", "here");
    assertEquals(List.of(new Conflict(0, "a", "changed")), conflicts());
    laptop.write("a", "1");
    nodes.get(1).folder().write("a", "elsewhere");
    assertEquals(
        List.of(new Conflict(0, "a", "changed"), new Conflict(1, "a", "changed")), conflicts());
    nodes.get(1).folder().write("a", "1").write("b", "drifted");
    assertEquals(
        List.of(new Conflict(0, "a", "changed"), new Conflict(1, "b", "changed")), conflicts());
    laptop.delete("a");
    assertEquals(List.of(new Conflict(1, "b", "changed")), conflicts());

    assertEquals("there", editors.read("a"));
    for (FakeNode node : nodes) {
      assertEquals(first, held(node).generation());
    }
  }

  @Test
  void whatWasInTheWayAndIsGoneBlocksNoLonger() throws Exception {
    nodes(2);
    laptop.write("a", "1");
    push();
    nodes.get(1).folder().write("a", "drifted");
    assertEquals(List.of(new Conflict(1, "a", "changed")), conflicts());

    nodes.get(1).folder().write("a", "1");

    assertAllHold(push());
  }

  @Test
  void editsStayWhereTheConfigurationSaysSo() throws Exception {
    edits = WorkspaceSync.Edits.STAY;
    restartGateway();
    nodes(1);
    laptop.write("a", "1");
    push();
    nodes.getFirst().folder().write("a", "there");

    assertEquals(List.of(), sync.comeHome(nodes.getFirst()).paths());
    assertEquals(List.of(new Conflict(0, "a", "changed")), conflicts());
    assertEquals("1", laptop.read("a"));
  }

  private List<Conflict> conflicts() {
    return assertInstanceOf(SyncFailure.Conflicts.class, failure(this::push)).conflicts();
  }

  @Test
  void anEditThatComesHomeIsNeverWrittenOverASaveHere() throws Exception {
    nodes(1);
    laptop.write("a", "1");
    push();
    nodes.getFirst().folder().write("a", "there");
    // Between the comparison and the copy.
    nodes.getFirst().beforePull = () -> laptop.write("a", "saved here");

    assertEquals(List.of(new Conflict(0, "a", "changed")), conflicts());

    assertEquals("saved here", laptop.read("a"));
    assertEquals("there", nodes.getFirst().folder().read("a"));
  }

  @Test
  void whatAProgramWroteIntoAFileIsNoEdit() throws Exception {
    nodes(1);
    laptop.write("log", "1");
    push();
    nodes.getFirst().folder().write("log", new byte[(50 << 20) + 1]);

    assertEquals(List.of(new Conflict(0, "log", "changed")), conflicts());
    assertEquals("1", laptop.read("log"));
    laptop.write("other", "1");
    assertEquals(List.of(new Conflict(0, "log", "changed")), conflicts());
  }
}
