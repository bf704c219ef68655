package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.session.Sessions.KeepRequest;
import dev.gpush.core.session.SyncView;
import dev.gpush.sync.tree.Generation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Paths with two versions, until a user decides; with the real node side. */
final class HeldPathsTest extends SyncFixture {
  private WorkFolder editors() {
    return nodes.getFirst().folder();
  }

  private Generation keep(KeepRequest.Side side, String... paths) throws InterruptedException {
    return sync.push(
        all(), PushOptions.standard().keeping(new KeepRequest(side, List.of(paths))), talk);
  }

  private Set<String> trashHere() throws IOException {
    return new HashSet<>(new WorkFolder(base.resolve("trash")).texts().values());
  }

  private Set<String> trash(int node) throws IOException {
    return new HashSet<>(new WorkFolder(state(nodes.get(node)).resolve("trash")).texts().values());
  }

  private void assertEverywhere(Generation generation) throws Exception {
    assertAllHold(generation);
    for (FakeNode node : nodes) {
      assertEquals(laptop.texts(), node.folder().texts());
    }
    assertEquals(List.of(), sync.last().held());
  }

  /** One of each kind, beside an edit that comes home, a new file, and a change here. */
  private void differ() throws Exception {
    nodes(2);
    laptop.write("both", "1").write("gone-here", "1").write("gone-there", "1");
    laptop.write("edited", "1").write("changed", "1").write("d/keep", "1").link("l", "both");
    push();
    laptop.write("both", "here").delete("gone-here").write("gone-there", "here");
    laptop.write("changed", "here").write("new", "here").delete("l").link("l", "changed");
    editors().write("both", "there").write("gone-here", "there").delete("gone-there");
    editors().write("edited", "there").write("new", "there").delete("l").link("l", "edited");
    assertEquals(
        List.of(
            "both CHANGED_BOTH 0",
            "gone-here DELETED_HERE 0",
            "gone-there DELETED_THERE 0",
            "l CHANGED_BOTH 0",
            "new CHANGED_BOTH 0"),
        held());
  }

  @Test
  void bothVersionsStayAndEverythingElseGoes() throws Exception {
    differ();

    Generation held = sync.last().generation();
    assertEquals("there", laptop.read("edited"));
    for (FakeNode node : nodes) {
      assertEquals("there", node.folder().read("edited"));
      assertEquals("here", node.folder().read("changed"));
      assertEquals(held, held(node).generation());
    }
    assertEquals("here", laptop.read("both"));
    assertEquals("there", editors().read("both"));
    assertEquals("1", nodes.get(1).folder().read("both"));
    assertEquals("there", editors().read("gone-here"));
    assertFalse(WorkFolder.exists(laptop.path().resolve("gone-here")));
    assertEquals("there", editors().read("new"));
    assertTrue(sync.last().held().getFirst().here().isPresent());
    assertTrue(sync.last().held().getFirst().there().isPresent());
    restartGateway();
    assertEquals(5, held().size());
    assertEquals(held, sync.last().generation(), "nothing else has changed");
  }

  @Test
  void aSaveSendsTheRestAndIsNotRepeatedForWhatIsHeld() throws Exception {
    differ();
    laptop.write("changed", "again");

    assertEquals(List.of("changed"), sync.rescan(Optional.empty(), Set.of()).pending());
    assertEquals(List.of("changed"), sync.pushLooked(all(), false).paths());

    assertEquals("again", nodes.get(1).folder().read("changed"));
    assertEquals(List.of(), sync.rescan(Optional.empty(), Set.of()).pending());
    Homecoming.Came came = comeHome();
    assertEquals(List.of(), came.paths());
    assertFalse(came.isLeft(), "what is held is named already");
    assertEquals(5, sync.last().held().size());
    laptop.write("both", "there");
    assertEquals(List.of("both"), sync.rescan(Optional.empty(), Set.of()).pending());
    sync.pushLooked(all(), false);
    assertEquals(4, sync.last().held().size());
    assertEquals("there", nodes.get(1).folder().read("both"));
  }

  @Test
  void aSaveWithoutNode0SendsNothingOfWhatIsHeld() throws Exception {
    differ();
    List<SyncFailure.HeldPath> before = sync.last().held();
    laptop.write("changed", "again").write("both", "here again").write("new", "here again");

    sync.abandon(nodes.getFirst());
    sync.rescan(Optional.empty(), Set.of());
    sync.pushLooked(List.of(nodes.get(1)), false);

    assertEquals("again", nodes.get(1).folder().read("changed"));
    assertEquals("1", nodes.get(1).folder().read("both"));
    assertEquals("1", nodes.get(1).folder().read("gone-here"));
    assertFalse(WorkFolder.exists(nodes.get(1).folder().path().resolve("new")));
    assertEquals(before, sync.last().held());
    assertEquals(5, held().size());
    assertEverywhere(keep(KeepRequest.Side.NODE, ""));
    assertEquals("there", laptop.read("both"));
  }

  @Test
  void theLaptopsVersionsGoEverywhereAndTheOthersToTheTrashThere() throws Exception {
    differ();

    assertEverywhere(keep(KeepRequest.Side.LAPTOP, ""));

    assertEquals("here", editors().read("both"));
    assertEquals(Path.of("changed"), Files.readSymbolicLink(editors().path().resolve("l")));
    assertFalse(WorkFolder.exists(editors().path().resolve("gone-here")));
    assertEquals(Set.of("there"), trash(0));
    assertEquals(Set.of(), trashHere());
    SyncView.Trash trash = sync.last().trashes().getFirst();
    assertEquals(Optional.of(0), trash.node());
    assertEquals(4, trash.files());
  }

  @Test
  void theNodesVersionsComeHomeAndTheOthersGoToTheTrashHere() throws Exception {
    differ();

    assertEverywhere(keep(KeepRequest.Side.NODE, ""));

    assertEquals("there", laptop.read("both"));
    assertEquals("there", laptop.read("gone-here"));
    assertEquals("there", laptop.read("new"));
    assertEquals(Path.of("edited"), Files.readSymbolicLink(laptop.path().resolve("l")));
    assertFalse(WorkFolder.exists(laptop.path().resolve("gone-there")));
    assertEquals(Set.of("here"), trashHere());
    assertEquals(Set.of(), trash(0));
    SyncView.Trash trash = sync.last().trashes().getFirst();
    assertEquals(Optional.empty(), trash.node());
    assertEquals(4, trash.files());
    restartGateway();
    sync.learn(List.copyOf(nodes));
    assertEquals(List.of(trash), sync.last().trashes(), "another gateway names it, too");
  }

  /** It has what gpush wrote there, and no edit. */
  @Test
  void aNodeThatMissedASaveOfWhatIsHeldThenKeepsNothing() throws Exception {
    nodes(3);
    laptop.write("gone", "first").write("new.py", "first").write("other", "1");
    push();
    laptop.write("gone", "second").write("new.py", "second");
    sync.rescan(Optional.empty(), Set.of());
    sync.pushLooked(List.copyOf(nodes.subList(0, 2)), false);
    laptop.write("gone", "3").write("new.py", "third here").write("other", "2");
    editors().delete("gone").write("new.py", "third there");
    assertEquals(List.of("gone DELETED_THERE 0", "new.py CHANGED_BOTH 0"), held());
    restartGateway();
    assertEquals(List.of("gone DELETED_THERE 0", "new.py CHANGED_BOTH 0"), held());
    assertEquals("first", nodes.get(2).folder().read("gone"));
    talk.said.clear();

    assertEverywhere(keep(KeepRequest.Side.NODE, ""));

    assertEquals(Map.of("new.py", "third there", "other", "2"), laptop.texts());
    assertFalse(talk.said.toString().contains("keeps files"), talk.said::toString);
  }

  /** They have the laptop's version, which is newer than what node 0 had. */
  @Test
  void nodesThatNode0MissedASaveOfGetTheVersionThatIsKept() throws Exception {
    nodes(3);
    laptop.write("a", "1");
    push();
    laptop.write("a", "here");
    sync.rescan(Optional.empty(), Set.of());
    sync.pushLooked(List.copyOf(nodes.subList(1, 3)), false);
    editors().write("a", "there");
    assertEquals(List.of("a CHANGED_BOTH 0"), held());

    assertEverywhere(keep(KeepRequest.Side.NODE, "a"));

    assertEquals("there", laptop.read("a"));
  }

  @Test
  void onlyTheNamedPathsAreDecided() throws Exception {
    differ();

    keep(KeepRequest.Side.LAPTOP, "both");
    assertEquals("here", nodes.get(1).folder().read("both"));
    assertEquals(4, sync.last().held().size());
    assertTrue(talk.said.stream().anyMatch(line -> line.startsWith("still held: gone-here")));
    assertEquals(
        new SyncFailure.NotHeld(List.of("both", "d")),
        failure(() -> keep(KeepRequest.Side.NODE, "both", "d", "l")));
    assertEquals(3, sync.last().held().size());
    assertEquals("here", laptop.read("both"));
  }

  @Test
  void modesLinksAndKindsComeHomeLikeContents() throws Exception {
    nodes(2);
    laptop.write("run.sh", "1").write("a", "1").write("b", "1").link("l", "a").link("m", "a");
    push();
    editors().executable("run.sh", true);
    editors().delete("a").link("a", "b").delete("l").link("l", "b").delete("m").write("m", "1");

    assertEverywhere(push());

    assertTrue(Files.isExecutable(laptop.path().resolve("run.sh")));
    assertTrue(Files.isExecutable(nodes.get(1).folder().path().resolve("run.sh")));
    assertEquals(Path.of("b"), Files.readSymbolicLink(laptop.path().resolve("a")));
    assertEquals(Path.of("b"), Files.readSymbolicLink(laptop.path().resolve("l")));
    assertEquals("1", laptop.read("m"));
  }

  @Test
  void whatCannotBeHereIsHeldAlone() throws Exception {
    nodes(1);
    laptop.write("a", "1").write("b", "1");
    push();
    editors().delete("a").link("a", "/etc/passwd").write("b", "there");

    assertEquals(List.of("a CANNOT_COME 0"), held());

    assertEquals("there", laptop.read("b"));
    assertEquals("1", laptop.read("a"));
    assertEverywhere(keep(KeepRequest.Side.LAPTOP, "a"));
  }

  @Test
  void aNameThatIsTooLongWhileItComesHomeIsHeldAlone() throws Exception {
    nodes(1);
    String longest = "x".repeat(252) + ".py";
    laptop.write(longest, "1").write("z", "1");
    push();
    nodes.getFirst().folder().write(longest, "2").write("z", "2");

    assertEquals(List.of(longest + " CANNOT_COME 0"), held());

    assertEquals("2", laptop.read("z"));
    assertEquals("1", laptop.read(longest));
  }

  @Test
  void aFolderInTheWayHoldsWhatNeedsItsPlaceAndNothingElse() throws Exception {
    nodes(1);
    laptop.write("a", "1");
    push();
    editors().write("x/theirs", "there").write("y", "there");
    laptop.write("x", "here").write("y/z", "here").write("y/w", "here").write("ok", "1");

    assertEquals(
        List.of("x IN_THE_WAY 0", "y IN_THE_WAY 0", "y/w IN_THE_WAY 0", "y/z IN_THE_WAY 0"),
        held());
    assertEquals("1", editors().read("ok"));
    keep(KeepRequest.Side.LAPTOP, "y");
    assertEquals("here", editors().read("y/z"));
    assertEquals(Set.of("there"), trash(0));

    assertEverywhere(keep(KeepRequest.Side.NODE, "x"));
    assertEquals("there", laptop.read("x/theirs"));
    assertEquals(Set.of("here"), trashHere());
  }

  /** It came home with all that is ignored in it. */
  @Test
  void ofAFolderThatIsKeptComesHomeWhatWouldComeOfAnyNewFolder() throws Exception {
    nodes(2);
    laptop.write("a", "1").write(".gitignore", "*.secret\n");
    push();
    editors().write("x/model.py", "there").write("x/deep/b.py", "there");
    editors().write("x/of.secret", "1").write("x/large.py", new byte[LARGEST_NEW + 1]);
    laptop.write("x", "here");
    assertEquals(List.of("x IN_THE_WAY 0"), held());

    keep(KeepRequest.Side.NODE, "x");

    assertEquals(
        Set.of("model.py", "deep/b.py"),
        new WorkFolder(laptop.path().resolve("x")).texts().keySet());
    assertEquals("there", nodes.get(1).folder().read("x/deep/b.py"));
    assertEquals(Set.of("here"), trashHere());
    assertEquals("1", editors().read("x/of.secret"));
    assertEquals(Set.of("x/large.py"), sync.home().staying().keySet());
  }

  /** It was tried six times, and then "the copies change while they are synced". */
  @Test
  void whatSyncLeavesOutHereIsNamedAtOnceAndStays() throws Exception {
    nodes(1);
    laptop.write("secret", "1").write("pipe", "1").write("out", "1").write("folder", "1");
    laptop.write("link/x", "1").write("file/x", "1").write("edited", "1");
    push();
    for (String each : List.of("secret", "pipe", "out", "folder", "link/x", "file/x")) {
      editors().write(each, "there");
      laptop.delete(each.replace("/x", ""));
    }
    laptop.write(".gitignore", "/secret\n").write("secret", "here").link("out", "/etc/hostname");
    makePipe(laptop, "pipe");
    laptop.write("folder/new", "here").write("other/x", "here").link("link", "other");
    laptop.write("file", "here");
    Map<String, String> before = laptop.texts();
    held();

    assertEquals(
        Map.of(
            "secret", "what is here is not sent: /secret (.gitignore:1) ignores it",
            "pipe", "what is here is no file, link or folder",
            "out", "the link that is here points out of the workspace",
            "folder", "a folder of this name is here",
            "link/x", "link is a link here",
            "file/x", "file is no folder here"),
        inTheWay("secret", "pipe", "out", "folder", "link/x", "file/x"));

    assertEquals(before, laptop.texts());
    for (String each : List.of("secret", "pipe", "out", "folder", "link", "file")) {
      laptop.move(each, "../" + each);
    }
    laptop.write(".gitignore", "");
    assertEverywhere(keep(KeepRequest.Side.NODE, ""));
    assertEquals("there", laptop.read("secret"));
    assertEquals("there", laptop.read("file/x"));
  }

  private Map<String, String> inTheWay(String... paths) {
    var found = new HashMap<String, String>();
    for (String path : paths) {
      var way =
          assertInstanceOf(
              SyncFailure.InTheWay.class, failure(() -> keep(KeepRequest.Side.NODE, path)), path);
      found.put(way.path(), way.what());
    }
    return found;
  }

  @Test
  void whatIsBelowAFolderThatCannotBeReadHereIsNamedAtOnce() throws Exception {
    assumeFalse(System.getProperty("user.name").equals("root"), "root reads all folders");
    nodes(1);
    laptop.write("d/x", "1");
    push();
    editors().write("d/x", "there");
    laptop.executable("d", false);

    assertEquals(Map.of("d/x", "d cannot be read here"), inTheWay("d/x"));

    laptop.executable("d", true);
    assertEverywhere(push());
  }

  private static void makePipe(WorkFolder folder, String name) throws Exception {
    Path pipe = folder.path().resolve(name);
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
  }

  @Test
  void whatIsNoFileThereGoesToTheTrashOrIsNamed() throws Exception {
    nodes(2);
    laptop.write("a", "1").write(".gitignore", "*.log\n");
    push();
    for (String each : List.of("a", "new")) {
      laptop.write(each, "here");
    }
    editors().delete("a").write("x.log", "there").link("out", "/etc/hostname");
    makePipe(editors(), "a");
    makePipe(editors(), "new");
    laptop.write(".gitignore", "").write("x.log", "here").write("out", "here");
    List<String> held =
        List.of(
            "a CHANGED_BOTH 0", "new IN_THE_WAY 0", "out CHANGED_BOTH 0", "x.log CHANGED_BOTH 0");
    assertEquals(held, held());

    for (String each : List.of("a", "new")) {
      assertEquals(
          new SyncFailure.NotPulled(0, each, "what is there is no file, link or folder"),
          failure(() -> keep(KeepRequest.Side.NODE, each)));
    }

    assertEquals(held, held());
    assertEverywhere(keep(KeepRequest.Side.LAPTOP, ""));
    assertEquals("here", editors().read("a"));
    assertEquals(Set.of("there"), trash(0));
  }

  /** Of an adopted session, gpush cannot know that a file is anywhere else. */
  @Test
  void whatWasSentFromElsewhereGoesToTheTrashBeforeItIsReplaced() throws Exception {
    nodes(2);
    laptop.write("a", "of the other laptop").write("b", "too").write("same", "1");
    push();
    restartGateway();
    laptop.write("a", "mine").delete("b");
    talk.answer = FakeTalk.Answer.YES;

    Generation moved = sync.push(all(), PushOptions.standard().comparing(), talk);

    assertEverywhere(moved);
    assertEquals(1, talk.asked.size());
    for (int node = 0; node < 2; node++) {
      assertEquals(Set.of("of the other laptop", "too"), trash(node));
    }
    laptop.write("a", "mine, again");
    sync.push(all(), PushOptions.standard().comparing().overwriting(), talk);
    assertEquals(Set.of("of the other laptop", "too", "mine"), trash(0));
    assertEquals(1, talk.asked.size());
  }

  @Test
  void anEditInTheMomentOfTheCommitIsHeldToo() throws Exception {
    nodes(2);
    laptop.write("a", "1").write("b", "1");
    push();
    laptop.write("a", "here");
    boolean[] isDone = {false};
    nodes.getFirst().beforeCommit =
        () -> {
          if (!isDone[0]) {
            isDone[0] = true;
            editors().write("a", "there");
          }
        };

    assertEquals(List.of("a CHANGED_BOTH 0"), held());

    assertEquals("here", laptop.read("a"));
    assertEquals("there", editors().read("a"));
    assertEquals(Map.of("a", "here", "b", "1"), nodes.get(1).folder().texts());
    laptop.write("b", "2");
    sync.rescan(Optional.empty(), Set.of());
    sync.pushLooked(List.of(nodes.get(1)), false);
    assertEquals("2", nodes.get(1).folder().read("b"), "a save while node 0 is away");
    assertEquals(List.of("a CHANGED_BOTH 0"), held());
    assertEquals("here", laptop.read("a"));
  }

  @Test
  void aSecondEditInTheMomentOfTheCommitComesHomeToo() throws Exception {
    nodes(2);
    laptop.write("a", "1");
    push();
    editors().write("a", "one").write("new.py", "one");
    int[] commits = {0};
    nodes.getFirst().beforeCommit =
        () -> {
          if (commits[0]++ == 0) {
            editors().write("a", "second").write("new.py", "second");
          }
        };

    push();

    assertEquals(Map.of("a", "second", "new.py", "second"), laptop.texts());
    assertEquals(Map.of("a", "second", "new.py", "second"), nodes.get(1).folder().texts());
    assertTrue(commits[0] > 1, "the edit was made in the first commit");
  }

  /** Only the gateway that ended knew that they were changed in the moment of its commit. */
  @Test
  void whatThatEditReplacesInAnotherGatewayIsInTheTrash() throws Exception {
    nodes(2);
    laptop.write("a", "1");
    push();
    laptop.write("a", "here");
    nodes.getFirst().beforeCommit = () -> editors().write("a", "there");
    assertEquals(List.of("a CHANGED_BOTH 0"), held());
    nodes.getFirst().beforeCommit = () -> {};
    restartGateway();

    push();

    assertEquals("there", laptop.read("a"));
    assertEquals(Set.of("here"), trashHere());
    editors().write("a", "and again");
    push();
    assertEquals("and again", laptop.read("a"));
    assertEquals(Set.of("here"), trashHere(), "both sides had what was replaced now");
  }

  /** It was sent to that node in each attempt, and refused, until the push failed. */
  @Test
  void whatIsOnANodeThatMissedASaveIsHeld() throws Exception {
    nodes(3);
    laptop.write("a", "1");
    push();
    laptop.write("new", "here");
    sync.rescan(Optional.empty(), Set.of());
    sync.pushLooked(List.of(nodes.getFirst()), false);
    nodes.get(1).folder().write("new", "of 1");
    nodes.get(2).folder().write("new", "of 2");
    laptop.write("a", "2");

    assertEquals(1, held().size());

    assertEquals("2", nodes.get(1).folder().read("a"));
    assertEquals("of 1", nodes.get(1).folder().read("new"));
    assertEverywhere(keep(KeepRequest.Side.LAPTOP, "new"));
    assertEquals(Set.of("of 1"), trash(1));
    assertEquals(Set.of("of 2"), trash(2));
  }

  /** It was tried six times, and then "the copies change while they are synced". */
  @Test
  void whatWasChangedOnOneNodeAndHasNoPlaceOnAnotherIsHeld() throws Exception {
    nodes(3);
    laptop.write("a/b", "1").write("c", "1");
    sync.push(all().subList(0, 2), PushOptions.standard(), talk);
    nodes.get(1).folder().write("a/b", "of node 1");
    nodes.get(2).folder().write("a", "of node 2");

    assertEquals(List.of("a IN_THE_WAY 2", "a/b OTHER_NODE 1"), held());

    assertEquals("1", nodes.get(2).folder().read("c"));
    assertEverywhere(keep(KeepRequest.Side.LAPTOP, ""));
    assertEquals(Set.of("of node 1"), trash(1));
    assertEquals(Set.of("of node 2"), trash(2));
  }

  @Test
  void whatIsInTheWayOnAnotherNodeIsNoVersionOfTheEditorsNode() throws Exception {
    nodes(2);
    laptop.write("a", "1");
    push();
    nodes.get(1).folder().write("x/theirs", "there");
    laptop.write("x", "here");
    assertEquals(List.of("x IN_THE_WAY 1"), held());

    assertInstanceOf(SyncFailure.Held.class, failure(() -> keep(KeepRequest.Side.NODE, "x")));

    assertEquals("here", laptop.read("x"));
    assertEquals("there", nodes.get(1).folder().read("x/theirs"));
    keep(KeepRequest.Side.LAPTOP, "x");
    assertEquals("here", nodes.get(1).folder().read("x"));
    assertEquals(Set.of("there"), trash(1));
  }
}
