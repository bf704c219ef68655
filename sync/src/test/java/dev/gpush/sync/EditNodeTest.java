package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.session.Sessions.KeepRequest;
import dev.gpush.sync.home.Editors;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** People edit on another node than node 0, which is one of the others then. */
final class EditNodeTest extends SyncFixture {
  @BeforeEach
  void onNode1() {
    editors = Editors.on(1);
    restartGateway();
  }

  private WorkFolder node(int index) {
    return nodes.get(index).folder();
  }

  @Test
  void whatIsEditedMadeAndDeletedThereComesHome() throws Exception {
    nodes(3);
    laptop.write("edited.py", "1").write("gone.py", "1");
    push();
    node(1).write("edited.py", "there").write("new.py", "there");
    Files.delete(node(1).path().resolve("gone.py"));

    assertAllHold(push());

    assertEquals("there", laptop.read("edited.py"));
    assertEquals("there", laptop.read("new.py"));
    assertFalse(Files.exists(laptop.path().resolve("gone.py")));
    for (FakeNode node : nodes) {
      assertEquals(laptop.tree(), node.folder().tree());
    }
    assertTrue(
        talk.said.contains("edited on node 1, and now here as well: edited.py"),
        talk.said::toString);
  }

  @Test
  void node0IsNoEditorThen() throws Exception {
    nodes(2);
    laptop.write("a", "1").write("b", "1").write("gone", "1");
    push();
    node(0).write("a", "on node 0").write("new.py", "on node 0");
    Files.delete(node(0).path().resolve("gone"));
    node(1).write("b", "on node 1");
    laptop.write("b", "here");

    assertEquals(List.of("a OTHER_NODE 0", "b CHANGED_BOTH 1"), held());

    assertEquals("1", laptop.read("gone"));
    assertFalse(Files.exists(laptop.path().resolve("new.py")));
    var keep = new KeepRequest(KeepRequest.Side.NODE, List.of(""));
    var left =
        assertInstanceOf(
            SyncFailure.Held.class,
            failure(() -> sync.push(all(), PushOptions.standard().keeping(keep), talk)));
    assertEquals(List.of("a"), left.paths().stream().map(each -> each.path()).toList());
    assertEquals("on node 1", laptop.read("b"));
  }

  @Test
  void ofASharedFileSystemItIsTheOneThatWrites() throws Exception {
    Path shared = base.resolve("shared/project");
    for (int i = 0; i < 3; i++) {
      nodes.add(new FakeNode(i, shared, base));
    }
    laptop.write("a", "1");
    push();
    node(1).write("a", "there").write("new.py", "there");

    assertAllHold(push());

    assertEquals("there", laptop.read("a"));
    assertEquals("there", laptop.read("new.py"));
  }

  /** The key has another value when the next gateway begins. */
  @Test
  void anotherNodeDecidesByWhatGpushWroteThere() throws Exception {
    nodes(2);
    laptop.write("a", "1").write("b", "1");
    push();
    node(1).write("a", "on node 1");
    node(0).write("b", "on node 0");

    editors = Editors.on(0);
    restartGateway();

    assertEquals(List.of("a OTHER_NODE 1"), held());
    assertEquals("1", laptop.read("a"));
    assertEquals("on node 1", node(1).read("a"));
    assertEquals("on node 0", laptop.read("b"));
  }
}
