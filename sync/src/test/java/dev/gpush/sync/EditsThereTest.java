package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.UsageFailure;
import dev.gpush.sync.home.Editors;
import dev.gpush.sync.home.NodeWatch;
import dev.gpush.sync.tree.Generation;
import dev.gpush.sync.tree.Merge;
import dev.gpush.testkit.fake.ManualClock;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  /** Over a slow link a round trip for each file is what people would wait for. */
  @Test
  void manyEditsComeHomeInAFewRoundTrips() throws Exception {
    nodes(1);
    for (int i = 0; i < 200; i++) {
      laptop.write("f" + i, "1");
    }
    push();
    for (int i = 0; i < 200; i++) {
      nodes.getFirst().folder().write("f" + i, "edited " + i);
    }
    int before = nodes.getFirst().flights.get();

    assertEquals(200, comesHome().size());

    int flights = nodes.getFirst().flights.get() - before;
    assertTrue(flights <= 10, () -> flights + " flights");
    assertEquals("edited 199", laptop.read("f199"));
  }

  /** It was asked for already, and its answer is on the way. */
  @Test
  void whatIsSavedHereWhileManyComeStaysAndStopsNoneOfThem() throws Exception {
    nodes(1);
    laptop.write("a", "1").write("b", "1").write("c", "1");
    push();
    nodes.getFirst().folder().write("a", "there").write("b", "there").write("c", "there");
    nodes.getFirst().beforePull = _ -> laptop.write("b", "here");

    assertEquals(List.of("a", "c"), comesHome());

    assertEquals("here", laptop.read("b"));
    assertEquals("there", laptop.read("c"));
    nodes.getFirst().beforePull = _ -> {};
    assertEquals(List.of("b CHANGED_BOTH 0"), held());
  }

  @Test
  void whatWasEditedHereAsWellOrOnAnotherNodeIsHeld() throws Exception {
    nodes(2);
    laptop.write("a", "1").write("b", "1").write("c", "1");
    push();
    WorkFolder editors = nodes.getFirst().folder();
    editors.write("a", "there");

    laptop.write("a", "here").write("c", "2");
    assertEquals(List.of("a CHANGED_BOTH 0"), held());
    assertEquals("2", nodes.get(1).folder().read("c"));
    laptop.write("a", "1");
    nodes.get(1).folder().write("a", "elsewhere");
    assertEquals(List.of("a OTHER_NODE 1"), held());
    nodes.get(1).folder().write("b", "drifted");
    laptop.delete("a");
    assertEquals(List.of("a DELETED_HERE 0", "b OTHER_NODE 1"), held());

    assertEquals("there", editors.read("a"));
    assertEquals("elsewhere", nodes.get(1).folder().read("a"));
    assertEquals("drifted", nodes.get(1).folder().read("b"));
    for (FakeNode node : nodes) {
      assertEquals(sync.last().generation(), held(node).generation());
    }
  }

  /** Between two pushes, as while a run holds saves, both sides have what came home last. */
  @Test
  void whatHasComeHomeIsTheVersionThatBothHad() throws Exception {
    nodes(2);
    laptop.write("there again", "1").write("here then", "1").write("both then", "1");
    push();
    WorkFolder editors = nodes.getFirst().folder();
    editors.write("there again", "2").write("here then", "2").write("both then", "2");
    assertEquals(3, comesHome().size());

    editors.write("there again", "3").write("both then", "3 there");
    laptop.write("here then", "3").write("both then", "3 here");

    assertEquals(List.of("there again"), comesHome());
    assertEquals(List.of("both then CHANGED_BOTH 0"), held());
    assertEquals("3", nodes.get(1).folder().read("there again"));
    assertEquals("3", editors.read("here then"));
    assertEquals("3 there", editors.read("both then"));
    assertEquals("3 here", laptop.read("both then"));
    laptop.write("there again", "4").write("both then", "3 there");
    push();
    editors.write("there again", "5");
    assertEquals(List.of("there again"), comesHome(), "that it came once is past");
  }

  @Test
  void whatHasComeHomeIsRememberedWhileNode0IsAway() throws Exception {
    nodes(2);
    laptop.write("a", "1").write("b", "1");
    push();
    nodes.getFirst().folder().write("a", "2");
    assertEquals(List.of("a"), comesHome());
    laptop.write("a", "3");
    sync.rescan(Optional.empty(), Set.of());
    sync.pushLooked(List.of(nodes.get(1)), false);

    assertAllHold(push());

    assertEquals("3", nodes.getFirst().folder().read("a"));
  }

  private List<String> comesHome() throws Exception {
    sync.rescan(Optional.empty(), Set.of());
    return comeHome().paths();
  }

  @Test
  void editsThatAreNamedComeAlone() throws Exception {
    nodes(2);
    laptop.write("a", "1").write("b", "1").write("both", "1").write("gone", "1");
    push();
    WorkFolder there = nodes.getFirst().folder();
    there.write("a", "2").write("b", "2").write("new.py", "1");
    sync.rescan(Optional.empty(), Set.of());

    Homecoming.Came came = comeHome("a");

    assertEquals(List.of("a"), came.paths());
    assertFalse(came.isOfAll());
    assertEquals("2", laptop.read("a"));
    assertEquals("1", laptop.read("b"));
    assertEquals(List.of(), comeHome("gone").paths(), "it is as it was");
    sync.rescan(Optional.empty(), Set.of());
    assertEquals(List.of("a"), sync.pushLooked(all(), false).paths());
    assertEquals("2", nodes.get(1).folder().read("a"));
  }

  /** A deletion may be half of a renaming, and what is held is named by a push. */
  @Test
  void whatIsNamedAndIsNoEditHasAllLookedAt() throws Exception {
    nodes(2);
    laptop.write("a", "1").write("b", "1").write("both", "1").write("gone", "1");
    push();
    WorkFolder there = nodes.getFirst().folder();
    there.write("a", "2").write("both", "there");
    laptop.write("both", "here");
    sync.rescan(Optional.empty(), Set.of());

    Homecoming.Came came = comeHome("both");

    assertTrue(came.isOfAll());
    assertTrue(came.isLeft());
    assertEquals(List.of("a"), came.paths());
    assertEquals("here", laptop.read("both"));
    there.write("b", "2");
    Files.delete(there.path().resolve("gone"));
    sync.rescan(Optional.empty(), Set.of());
    assertEquals(List.of("b"), comeHome("gone").paths());
  }

  /** Nothing says by itself that the file is here again. */
  @Test
  void anEditThatDidNotComeBecauseTheFileWasAwayHereIsLookedAtAgain() throws Exception {
    nodes(1);
    laptop.write("a", "1").write("b", "1");
    push();
    nodes.getFirst().folder().write("a", "2");
    sync.rescan(Optional.empty(), Set.of());
    nodes.getFirst().beforePull = _ -> laptop.move("a", "away");

    Homecoming.Came came = comeHome("a");

    assertEquals(List.of(), came.paths());
    assertTrue(came.again().isPresent());
    nodes.getFirst().beforePull = _ -> {};
    laptop.move("away", "a");
    assertEquals(List.of("a"), comeHome().paths());
    assertEquals(Optional.empty(), comeHome().again());
  }

  /** What was on its way was taken for the next answer of the node. */
  @Test
  void anEditWhoseFolderGoesHereMeanwhileIsReadToItsEnd() throws Exception {
    nodes(1);
    laptop.write("d/a", "1").write("other", "1");
    push();
    nodes.getFirst().folder().write("d/a", "2").write("other", "2");
    nodes.getFirst().beforePull =
        path -> {
          if (path.equals("d/a")) {
            laptop.move("d", "away");
          }
        };

    assertEquals(List.of("other"), comesHome());

    assertEquals("2", laptop.read("other"));
    assertEquals("1", laptop.read("away/a"));
  }

  private Homecoming.Came comeHome(String path) throws Exception {
    return sync.comeHome(nodes.getFirst(), new NodeWatch.Due(false, Set.of(path)));
  }

  /** More than the surplus that is read stands for a file that never ends. */
  @ParameterizedTest
  @ValueSource(longs = {51L << 20, 120L << 20})
  void anEditThatIsLargerThanTheNodeSaidIsNotWrittenHere(long size) throws Exception {
    nodes(1);
    laptop.write("a", "1");
    push();
    nodes.getFirst().folder().write("a", "edited");
    nodes.getFirst().beforePull = path -> grow(path, size);
    sync.rescan(Optional.empty(), Set.of());

    comeHome();

    assertEquals("1", laptop.read("a"));
  }

  private void grow(String path, long size) {
    Path file = nodes.getFirst().folder().path().resolve(path);
    try (var grown = new RandomAccessFile(file.toFile(), "rw")) {
      grown.setLength(size);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  @Test
  void whatWasInTheWayAndIsGoneBlocksNoLonger() throws Exception {
    nodes(2);
    laptop.write("a", "1");
    push();
    nodes.get(1).folder().write("a", "drifted");
    assertEquals(List.of("a OTHER_NODE 1"), held());

    nodes.get(1).folder().write("a", "1");

    assertAllHold(push());
  }

  @Test
  void editsStayWhereTheConfigurationSaysSo() throws Exception {
    editors = new Editors(0, Merge.Editing.STAYS);
    restartGateway();
    nodes(1);
    laptop.write("a", "1");
    push();
    nodes.getFirst().folder().write("a", "there");

    assertEquals(List.of(), comeHome().paths());
    assertEquals(List.of("a STAYS_THERE 0"), held());
    assertEquals("1", laptop.read("a"));
  }

  @Test
  void anEditThatComesHomeIsNeverWrittenOverASaveHere() throws Exception {
    nodes(1);
    laptop.write("a", "1");
    push();
    nodes.getFirst().folder().write("a", "there");
    // Between the comparison and the copy.
    nodes.getFirst().beforePull = _ -> laptop.write("a", "saved here");

    assertEquals(List.of("a CHANGED_BOTH 0"), held());

    assertEquals("saved here", laptop.read("a"));
    assertEquals("there", nodes.getFirst().folder().read("a"));
  }

  @Test
  void ofAFolderThatWasRenamedThereTheOneThatHasItsNameNowCounts() throws Exception {
    nodes(2);
    laptop.write("a", "1").write("b", "1");
    push();
    for (FakeNode node : nodes) {
      Files.move(node.folder().path(), node.folder().path().resolveSibling("old"));
      node.folder().write("a", "1").write("b", "1");
    }
    nodes.getFirst().folder().write("a", "edited");
    laptop.write("b", "2");

    assertAllHold(push());

    assertEquals("edited", laptop.read("a"));
    for (FakeNode node : nodes) {
      assertEquals(laptop.tree(), node.folder().tree());
    }
  }

  /** As after {@code rm -rf} and {@code git clone}: it has an older version than is here. */
  private ManualClock clonesThere(int count) throws Exception {
    var time = new ManualClock();
    clock = time;
    restartGateway();
    nodes(count);
    laptop.write("a", "uncommitted").write("b", "1").write("new", "uncommitted");
    push();
    WorkFolder folder = nodes.getFirst().folder();
    Files.move(folder.path(), folder.path().resolveSibling("old"));
    folder.write("a", "committed").write("b", "1");
    return time;
  }

  /** A formatter there has read the file before it was given what was saved here, and writes it. */
  @Test
  void whatAProgramThereHasPerhapsNotSeenIsKeptWhenItsEditComesHome() throws Exception {
    rewrite = Duration.ofHours(1);
    restartGateway();
    nodes(1);
    laptop.write("a", "1");
    push();
    laptop.write("a", "saved here");
    push();
    assertEquals(List.of(), trashed());

    nodes.getFirst().folder().write("a", "1, formatted");
    assertEquals(List.of("a"), comesHome());
    assertEquals(List.of("a"), trashed());
    for (String edit : List.of("1, edited", "1, edited again")) {
      nodes.getFirst().folder().write("a", edit);
      assertEquals(List.of("a"), comesHome());
      assertEquals(edit, laptop.read("a"));
      push();
    }

    assertEquals(List.of("a"), trashed(), "who edits again has seen the first edit");
  }

  private List<String> trashed() throws IOException {
    return new WorkFolder(base.resolve("trash"))
        .tree().keySet().stream().map(path -> path.substring(path.indexOf('/') + 1)).toList();
  }

  @Test
  void whatACloneThereReplacesHereIsKeptAndWhatItLacksIsAskedAbout() throws Exception {
    ManualClock time = clonesThere(2);

    sync.rescan(Optional.empty(), Set.of());
    comeHome();
    time.advance(Homecoming.SETTLED);
    assertTrue(comeHome().isLeft());
    assertEquals("committed", laptop.read("a"));
    assertEquals("uncommitted", laptop.read("new"));
    assertEquals(List.of("a"), trashed());

    talk.answer = FakeTalk.Answer.YES;
    assertAllHold(push());
    assertEquals(List.of("1 of 3 files are gone on node 0. Delete them here, too?"), talk.asked);
    assertEquals(Set.of("a", "new"), Set.copyOf(trashed()));
    assertEquals(laptop.tree(), nodes.getFirst().folder().tree());
  }

  @Test
  void aSaveThatFindsACloneThereLooksAtAllOfItFirst() throws Exception {
    ManualClock time = clonesThere(1);
    laptop.write("b", "2");

    sync.rescan(Optional.empty(), Set.of());
    assertInstanceOf(UsageFailure.NobodyToAsk.class, failure(() -> sync.pushLooked(all(), false)));
    comeHome();
    time.advance(Homecoming.SETTLED);
    comeHome();

    assertEquals(Map.of("a", "committed", "b", "2", "new", "uncommitted"), laptop.texts());
    assertEquals(List.of("a"), trashed());
  }

  /** What came home from the folder before is here only. */
  @Test
  void aCloneThereWithAllThatWasSentLastReplacesNoEditWithoutTheTrash() throws Exception {
    var time = new ManualClock();
    clock = time;
    restartGateway();
    nodes(2);
    laptop.write("a", "sent");
    push();
    WorkFolder folder = nodes.getFirst().folder();
    folder.write("a", "edited");
    time.advance(Homecoming.SETTLED);
    sync.rescan(Optional.empty(), Set.of());
    comeHome();
    assertEquals("edited", laptop.read("a"));

    Files.move(folder.path(), folder.path().resolveSibling("old"));
    folder.write("a", "sent");
    time.advance(Homecoming.SETTLED);
    sync.rescan(Optional.empty(), Set.of());
    comeHome();
    comeHome();

    assertEquals("sent", laptop.read("a"));
    assertEquals(List.of("a"), trashed());
  }

  @Test
  void aFolderThatWasRemovedThereIsFilledAndDeletesNothingHere() throws Exception {
    nodes(2);
    laptop.write("a", "1").write("d/b", "1");
    push();
    for (FakeNode node : nodes) {
      WorkFolder.remove(node.folder().path());
    }
    assertAllHold(push());

    WorkFolder.remove(nodes.getFirst().folder().path());
    sync.rescan(Optional.empty(), Set.of());
    assertTrue(comeHome().isLeft());
    WorkFolder.remove(nodes.get(1).folder().path());
    laptop.write("a", "2");
    sync.rescan(Optional.empty(), Set.of());
    sync.pushLooked(all(), false);

    assertAllHold(push());
    for (FakeNode node : nodes) {
      assertEquals(laptop.tree(), node.folder().tree());
    }
    assertEquals("1", laptop.read("d/b"));
    assertEquals(List.of(), talk.asked);
  }

  @Test
  void whatAProgramWroteIntoAFileIsNoEdit() throws Exception {
    nodes(1);
    laptop.write("log", "1");
    push();
    nodes.getFirst().folder().write("log", new byte[(50 << 20) + 1]);

    assertEquals(List.of("log CANNOT_COME 0"), held());
    assertEquals("1", laptop.read("log"));
    laptop.write("other", "1");
    assertEquals(List.of("log CANNOT_COME 0"), held());
    assertEquals("1", nodes.getFirst().folder().read("other"));
    assertEquals("it has more than 50 MB", sync.last().held().getFirst().detail());
  }
}
