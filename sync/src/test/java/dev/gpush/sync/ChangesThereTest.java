package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.SyncFailure.HeldPath;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.json.Json;
import dev.gpush.sync.home.Editors;
import dev.gpush.sync.scan.ScanLimits;
import dev.gpush.sync.tree.Generation;
import dev.gpush.sync.tree.Merge;
import dev.gpush.testkit.fake.ManualClock;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** New files, deletions and renames of an editor on node 0, with the real node side. */
final class ChangesThereTest extends SyncFixture {
  private WorkFolder editors() {
    return nodes.getFirst().folder();
  }

  private Path there(String path) {
    return editors().path().resolve(path);
  }

  /** Those that are kept here, without the folder for the moment. */
  private Set<String> trash() throws IOException {
    Path trash = base.resolve("trash");
    if (!Files.isDirectory(trash)) {
      return Set.of();
    }
    try (Stream<Path> all = Files.walk(trash)) {
      return all.filter(Files::isRegularFile)
          .map(file -> trash.relativize(file))
          .map(file -> file.subpath(1, file.getNameCount()).toString())
          .collect(Collectors.toSet());
    }
  }

  @Test
  void aNewModuleComesHomeAndGoesToAllNodes() throws Exception {
    nodes(2);
    laptop.write("train.py", "1").write("pkg/a.py", "1");
    Generation first = push();
    editors().write("model.py", "new").write("pkg/b.py", "new").write("deep/er/c.py", "new");
    editors().executable("model.py", true);
    Files.createSymbolicLink(there("link.py"), Path.of("pkg/a.py"));

    Generation moved = push();

    assertEquals(first.counter() + 1, moved.counter());
    assertAllHold(moved);
    assertEquals("new", laptop.read("model.py"));
    assertTrue(Files.isExecutable(laptop.path().resolve("model.py")));
    assertEquals(Path.of("pkg/a.py"), Files.readSymbolicLink(laptop.path().resolve("link.py")));
    for (FakeNode node : nodes) {
      assertEquals(laptop.tree(), node.folder().tree());
    }
    assertTrue(
        talk.said.contains(
            "new on node 0, and now here as well: deep/er/c.py, link.py, model.py, pkg/b.py"),
        talk.said::toString);
    assertEquals(moved, push());
  }

  private void aNewFileComesHome(ManualClock time) throws Exception {
    clock = time;
    restartGateway();
    nodes(1);
    laptop.write("train.py", "1");
    push();
    editors().write("model.py", "new");
    assertEquals(List.of("model.py"), comesHome(time));
  }

  @Test
  void whatCameHomeAndWasDeletedHereDoesNotComeAgain() throws Exception {
    var time = new ManualClock();
    aNewFileComesHome(time);
    laptop.delete("model.py");

    assertEquals(List.of(), comesHome(time));

    assertEquals(
        Map.of("model.py", "it came home, and was deleted or renamed here"), sync.home().staying());
    editors().write("model.py", "newer, so it is wanted");
    assertEquals(List.of("model.py"), comesHome(time));
  }

  /** It was tried again and again, and nothing was sent. */
  @Test
  void whatCameHomeAndIsALinkOutOfTheTreeThenIsHeld() throws Exception {
    var time = new ManualClock();
    aNewFileComesHome(time);
    editors().delete("model.py").link("model.py", "/etc/hostname");
    assertEquals(List.of(), comesHome(time));
    laptop.write("train.py", "2");

    assertEquals(List.of("model.py CHANGED_BOTH 0"), held());

    assertEquals("new", laptop.read("model.py"));
    assertEquals("2", editors().read("train.py"));
  }

  /** Each attempt waited for a look, which does not look at an empty node. */
  @Test
  void whatCameHomeFromANodeThatStartsAgainEmptyIsNothingOfIt() throws Exception {
    var time = new ManualClock();
    aNewFileComesHome(time);
    startsAgainEmpty(nodes.getFirst());
    editors().write("model.py", "another");
    sync.rescan(Optional.empty(), Set.of());

    sync.pushLooked(all(), false);

    assertEquals(List.of("model.py CHANGED_BOTH 0"), held());
    assertEquals("new", laptop.read("model.py"));
    assertEquals("another", editors().read("model.py"));
    assertEquals("1", editors().read("train.py"));
  }

  /** As while an editor here replaces it. */
  @Test
  void whatCameHomeAndWasAwayHereForAMomentComesAgain() throws Exception {
    var time = new ManualClock();
    aNewFileComesHome(time);
    editors().write("model.py", "newer");
    nodes.getFirst().beforePull = _ -> laptop.move("model.py", "away");
    assertEquals(List.of(), comesHome(time));
    nodes.getFirst().beforePull = _ -> {};
    laptop.move("away", "model.py");

    assertEquals(List.of("model.py"), comeHome().paths());

    assertEquals("newer", laptop.read("model.py"));
  }

  /** As a file that git does not track and a program here has made large. */
  @Test
  void whatCannotBeReplacedHereHoldsUpNoSaveAndIsTriedLessAndLessOften() throws Exception {
    var time = new ManualClock();
    clock = time;
    restartGateway();
    nodes(1);
    laptop.write("edited", "1").write("gone", "1").write("moved", "1").write("train.py", "1");
    push();
    editors().write("model.py", "new");
    assertEquals(List.of("model.py"), comesHome(time));
    sync.rescan(Optional.empty(), Set.of());
    for (String each : List.of("edited", "gone", "moved", "model.py")) {
      try (var file = new RandomAccessFile(laptop.path().resolve(each).toFile(), "rw")) {
        file.setLength(ScanLimits.standard().askOver() + 1);
      }
    }
    editors().write("edited", "2").write("model.py", "2").delete("gone");
    editors().move("moved", "renamed");
    var pulls = new AtomicInteger();
    nodes.getFirst().beforePull = _ -> pulls.incrementAndGet();
    laptop.write("train.py", "2");

    assertEquals(List.of(), comesHome(time));
    Duration first = comeHome().again().orElseThrow();
    assertEquals(first.multipliedBy(2), comeHome().again().orElseThrow());
    sync.pushLooked(all(), true);

    assertEquals("2", editors().read("train.py"));
    assertEquals("2", editors().read("edited"));
    assertEquals("2", editors().read("model.py"));
    assertFalse(Files.exists(there("gone")));
    assertEquals(
        List.of("edited", "model.py"),
        sync.last().held().stream().map(HeldPath::path).sorted().toList());
    assertEquals(0, pulls.get());

    sync.there().looking();
    for (String each : List.of("edited", "gone", "moved", "model.py")) {
      try (var file = new RandomAccessFile(laptop.path().resolve(each).toFile(), "rw")) {
        file.setLength(each.equals("model.py") ? 3 : 1);
      }
    }
    assertEquals(Set.of("edited", "gone", "model.py", "moved", "renamed"), comesHomeByItself(time));
    assertEquals("2", laptop.read("edited"));
    assertEquals("2", laptop.read("model.py"));
  }

  /** After a look at the laptop that asks for one at the node. */
  private Set<String> comesHomeByItself(ManualClock time) throws Exception {
    sync.rescan(Optional.empty(), Set.of());
    assertTrue(sync.there().isDue());
    var came = new TreeSet<>(comeHome().paths());
    time.advance(Homecoming.SETTLED);
    came.addAll(comeHome().paths());
    return came;
  }

  /** It was refused until another save there. */
  @Test
  void aNewFileComesHomeWhenItsPlaceHereIsFree() throws Exception {
    var time = new ManualClock();
    clock = time;
    restartGateway();
    nodes(1);
    laptop.write("train.py", "1");
    push();
    Files.createDirectory(laptop.path().resolve("model.py"));
    editors().write("model.py", "new");
    assertEquals(List.of(), comesHome(time));
    assertEquals(List.of(), comeHome().paths());
    assertEquals(Map.of("model.py", "another file of this name is here"), sync.home().staying());
    sync.there().looking();
    laptop.delete("model.py");

    assertEquals(Set.of("model.py"), comesHomeByItself(time));

    assertEquals("new", laptop.read("model.py"));
  }

  @Test
  void aCommandTriesAgainWhatCouldNotBeHere() throws Exception {
    nodes(1);
    laptop.write("train.py", "1");
    push();
    laptop.link("d", "/nowhere");
    editors().write("d/x.py", "new");
    push();
    push();
    assertEquals(Map.of("d/x.py", "d here is a dangling link"), sync.home().staying());
    laptop.delete("d");

    push();

    assertEquals("new", laptop.read("d/x.py"));
  }

  @Test
  void aNewFileThatTheNodeCannotReadStopsNothingElse() throws Exception {
    nodes(1);
    laptop.write("train.py", "1");
    push();
    editors().write("a.py", "of another user").write("b.py", "new");
    nodes.getFirst().lies = Json.object("a.py", List.of(Json.object("errno", 13)));
    restartGateway();
    laptop.write("train.py", "2");

    push();

    assertEquals("2", editors().read("train.py"));
    assertEquals("new", laptop.read("b.py"));
    assertFalse(Files.exists(laptop.path().resolve("a.py")));
    assertEquals(Map.of("a.py", "the node cannot read it: denied"), sync.home().staying());
  }

  /** With the look after the moment in which a file has to be the same. */
  private List<String> comesHome(ManualClock time) throws Exception {
    sync.rescan(Optional.empty(), Set.of());
    comeHome();
    time.advance(Homecoming.SETTLED);
    return comeHome().paths();
  }

  /** As {@code touch -r} does it; nothing but the content says that it is another file. */
  @Test
  void aFileThatWasRenamedAndChangedWithItsOldTimeComesHomeAsItIs() throws Exception {
    nodes(2);
    laptop.write("train.py", "1").write("old.py", "one");
    push();
    FileTime time = Files.getLastModifiedTime(there("old.py"));
    Files.createDirectory(there("lib"));
    Files.move(there("old.py"), there("lib/new.py"));
    Files.writeString(there("lib/new.py"), "two");
    Files.setLastModifiedTime(there("lib/new.py"), time);

    assertAllHold(push());

    assertEquals("two", laptop.read("lib/new.py"));
    assertEquals(Set.of("lib/new.py"), trash());
    assertEquals(laptop.tree(), nodes.getLast().folder().tree());
  }

  @Test
  void anEditThatCameHomeAndIsDeletedThereBeforeItWasSentIsDeletedHere() throws Exception {
    nodes(2);
    laptop.write("train.py", "1").write("model.py", "1");
    push();
    sync.rescan(Optional.empty(), Set.of());
    editors().write("model.py", "edited");
    assertEquals(List.of("model.py"), comeHome().paths());
    nodes.getLast().folder().write("model.py", "of another");
    editors().delete("model.py");

    push();

    assertEquals(Set.of("train.py"), laptop.tree().keySet());
    assertEquals(Set.of("model.py"), trash());
    assertEquals("of another", nodes.getLast().folder().read("model.py"));
  }

  @Test
  void outputStaysThereAndIsNamed() throws Exception {
    nodes(1);
    laptop
        .write("train.py", "1")
        .write(".gitignore", "*.csv\n/data/\n")
        .write(".gpushignore", "*.secret\n");
    editors().write("before.py", "was there before gpush");
    Generation first = push();
    editors()
        .write("a.csv", "ignored")
        .write("data/x.py", "ignored")
        .write("b.secret", "ignored")
        .write("__pycache__/train.pyc", "never")
        .write("train.log", "1")
        .write("model.pt", "1")
        .write("runs/1/x.json", "1")
        .write(".cache/x.py", "1")
        .write("clone/.git/HEAD", "1")
        .write("clone/x.py", "1")
        .write("big.json", new byte[LARGEST_NEW + 1]);

    assertEquals(first, push());

    assertEquals(Set.of("train.py", ".gitignore", ".gpushignore"), laptop.tree().keySet());
    assertEquals(
        "{.cache/=it is hidden, big.json=it has more than 1 MB (sync.new-from-node), clone/=it is a repository of its"
            + " own, model.pt=programs call their output so, runs/=programs call their output so,"
            + " train.log=programs call their output so}",
        sync.home().staying().toString());
    sync.pull(nodes.getFirst(), "runs", laptop.path().resolve("runs"), talk);
    assertEquals("1", laptop.read("runs/1/x.json"));
  }

  @Test
  void whileARunIsOnOnlyCodeComesHome() throws Exception {
    nodes(1);
    laptop.write("train.py", "1");
    push();
    Path run = Files.createDirectories(state(nodes.getFirst()).resolve("runs/1"));
    Files.writeString(run.resolve("lock"), "{}");
    editors().write("metrics.json", "1").write("model.py", "1");
    Files.writeString(run.resolve("exit.json"), "{}");

    push();

    assertEquals(Set.of("train.py", "model.py"), laptop.tree().keySet());
    assertEquals(
        "{metrics.json=a run was on when it was written}", sync.home().staying().toString());
  }

  @Test
  void aFloodStaysThere() throws Exception {
    nodes(1);
    laptop.write("train.py", "1");
    Generation first = push();
    for (int i = 0; i < 201; i++) {
      editors().write("plots/" + i + ".svg", "1");
    }

    assertEquals(first, push());

    assertEquals(201, sync.home().staying().size());
    assertEquals("more than 200 new files in a day", sync.home().staying().get("plots/7.svg"));
    assertEquals(Set.of("train.py"), laptop.tree().keySet());
  }

  /** A checkout there of what the laptop has sent. */
  @Test
  void whatGitTracksThereComesHomeHoweverMuchAndWhateverItsName() throws Exception {
    nodes(1);
    laptop.write("train.py", "1");
    push();
    editors().git(base, "init", "-q");
    Files.writeString(there(".git/gpush.json"), "{}");
    for (int i = 0; i < 201; i++) {
      editors().write("plots/" + i + ".svg", "1");
    }
    editors().write("runs/a.json", "1").write(".tool/b", "1").write("c.bin", "1");
    editors().write("d.json", new byte[LARGEST_NEW + 1]);
    editors().git(base, "add", "-A");
    editors().write("plots/new.svg", "1").write("runs/new.json", "1").write("new.bin", "1");

    assertAllHold(push());

    Set<String> here = laptop.tree().keySet();
    assertEquals(1 + 201 + 4 + 1, here.size());
    assertTrue(here.containsAll(Set.of("runs/a.json", ".tool/b", "c.bin", "plots/new.svg")));
    assertEquals(
        "{new.bin=programs call their output so, runs/new.json=programs call their output so}",
        sync.home().staying().toString());
  }

  /** The node said less at first; that was counted, and more would not be. */
  @Test
  void aNewFileThatGrowsOnItsWayComesAgain() throws Exception {
    nodes(1);
    laptop.write("train.py", "1");
    push();
    editors().write("model.py", "1");
    var pulls = new AtomicInteger();
    nodes.getFirst().beforePull =
        _ -> {
          if (pulls.incrementAndGet() == 1) {
            editors().write("model.py", "12");
          }
        };

    push();

    assertEquals("12", laptop.read("model.py"));
    assertEquals(List.of("new on node 0, and now here as well: model.py"), talk.said);
  }

  @Test
  void theRulesOfANewFolderDecideAboutTheRestOfIt() throws Exception {
    nodes(1);
    laptop.write("train.py", "1");
    push();
    editors()
        .write("tool/.gitignore", "*.json\n")
        .write("tool/a.json", "1")
        .write("tool/b.py", "1");

    push();

    assertEquals(Set.of("train.py", "tool/.gitignore", "tool/b.py"), laptop.tree().keySet());
  }

  @Test
  void aDeletionComesHomeIntoTheTrashAndGoesToAllNodes() throws Exception {
    nodes(2);
    laptop.write("a.py", "1").write("d/e/b.py", "kept").write("c.py", "1").write("x.py", "1");
    push();
    editors().delete("d/e/b.py");

    Generation moved = push();

    assertAllHold(moved);
    for (WorkFolder each : List.of(laptop, editors(), nodes.get(1).folder())) {
      assertEquals(Set.of("a.py", "c.py", "x.py"), each.tree().keySet());
    }
    assertFalse(Files.exists(laptop.path().resolve("d")));
    assertFalse(Files.exists(nodes.get(1).folder().path().resolve("d")));
    assertEquals(Set.of("d/e/b.py"), trash());
    assertTrue(
        talk.said.stream().allMatch(line -> line.startsWith("deleted on node 0, and now here")),
        talk.said::toString);
    assertEquals(1, talk.said.size());
  }

  @Test
  void whatAKilledGatewayLeftBesideAFileGoesToTheTrash() throws Exception {
    nodes(2);
    laptop.write("a.py", "1");
    push();
    laptop.write(".a.py.gpush-part", "saved at that moment");
    editors().write("a.py", "edited");

    assertAllHold(push());

    assertEquals("edited", laptop.read("a.py"));
    assertEquals(Set.of(".a.py.gpush-part"), trash());
  }

  @Test
  void aRenameIsDoneHereWithoutATransferAndHoweverLarge() throws Exception {
    nodes(2);
    byte[] large = new byte[6 << 20];
    new java.util.Random(7).nextBytes(large);
    laptop.write("old/big.json", large).write("a.py", "1");
    for (int i = 0; i < 60; i++) {
      laptop.write("src/" + i + ".py", "text " + i);
    }
    push();
    Files.move(there("old/big.json"), there("new.json"));
    Files.move(there("src"), there("lib"));

    long bytes = traffic(() -> assertAllHold(push()));

    assertEquals("text 7", laptop.read("lib/7.py"));
    assertFalse(Files.exists(laptop.path().resolve("src")));
    assertFalse(Files.exists(laptop.path().resolve("old")));
    assertEquals(Set.of(), trash());
    for (FakeNode node : nodes) {
      assertEquals(laptop.tree(), node.folder().tree());
    }
    assertTrue(bytes < 1 << 20, bytes + " bytes went to a node");
    assertEquals(List.of(), talk.asked);
  }

  @Test
  void manyDeletionsWaitForAYes() throws Exception {
    nodes(2);
    for (int i = 0; i < 60; i++) {
      laptop.write(i + ".py", "1");
    }
    Generation first = push();
    for (int i = 0; i < 51; i++) {
      editors().delete(i + ".py");
    }
    editors().write("new.py", "1");

    assertInstanceOf(UsageFailure.NobodyToAsk.class, failure(this::push));

    assertEquals(60, laptop.tree().size());
    assertEquals(first, held(nodes.get(1)).generation());
    assertEquals(List.of("51 of 60 files are gone on node 0. Delete them here, too?"), talk.asked);
    sync.push(all(), PushOptions.standard().overwriting(), talk);
    assertEquals(61, editors().tree().size());
    assertEquals(60, laptop.tree().size());
    for (int i = 0; i < 51; i++) {
      editors().delete(i + ".py");
    }
    talk.answer = FakeTalk.Answer.YES;
    assertAllHold(push());
    assertEquals(10, laptop.tree().size());
    assertEquals(51, trash().size());
  }

  @Test
  void thatAllIsDeletedWaitsForAYesAndThatAllIsRenamedDoesNot() throws Exception {
    nodes(2);
    laptop.write("a.py", "1").write("b.py", "2").write(".gitignore", "");
    push();
    Files.createDirectory(editors().path().resolve("src"));
    editors().move("a.py", "src/a.py");
    editors().move("b.py", "src/b.py");
    push();
    assertEquals(Set.of(".gitignore", "src/a.py", "src/b.py"), laptop.texts().keySet());
    editors().delete("src").write("new.py", "1");
    laptop.write("src/b.py", "edited here");

    assertInstanceOf(UsageFailure.NobodyToAsk.class, failure(this::push));

    assertEquals(List.of("1 of 3 files are gone on node 0. Delete them here, too?"), talk.asked);
    assertEquals("1", laptop.read("src/a.py"));
    assertEquals("1", nodes.get(1).folder().read("src/a.py"));
    talk.answer = FakeTalk.Answer.YES;
    assertEquals(List.of("src/b.py DELETED_THERE 0"), held());
    assertEquals(Set.of(".gitignore", "new.py", "src/b.py"), laptop.texts().keySet());
  }

  /** Each look saw a part that was no accident by itself. */
  @Test
  void manyDeletionsThatTakeTimeWaitForAYes() throws Exception {
    var time = new ManualClock();
    clock = time;
    restartGateway();
    nodes(1);
    for (int i = 0; i < 300; i++) {
      laptop.write(i + ".py", "1");
    }
    push();
    sync.rescan(Optional.empty(), Set.of());
    for (int i = 0; i < 200; i++) {
      editors().delete(i + ".py");
      if (i % 40 == 39) {
        assertEquals(List.of(), comeHome().paths());
        time.advance(Homecoming.SETTLED);
      }
    }

    assertInstanceOf(UsageFailure.NobodyToAsk.class, failure(this::push));

    assertEquals(
        List.of("200 of 300 files are gone on node 0. Delete them here, too?"), talk.asked);
    assertEquals(300, laptop.tree().size());
  }

  @Test
  void deletionsComeHomeTogetherWhenNoneFollows() throws Exception {
    var time = new ManualClock();
    clock = time;
    restartGateway();
    nodes(1);
    laptop.write("a.py", "1").write("b.py", "1").write("c.py", "1");
    push();
    editors().delete("a.py");
    sync.rescan(Optional.empty(), Set.of());
    comeHome();
    time.advance(Homecoming.SETTLED);
    editors().delete("b.py");

    assertEquals(List.of(), comeHome().paths());
    time.advance(Homecoming.SETTLED);
    assertEquals(List.of("a.py", "b.py"), comeHome().paths());
  }

  /** The names that did not fit into an answer were deleted here. */
  @Test
  void aRenamedFolderOfManyFilesComesHomeInParts() throws Exception {
    var time = new ManualClock();
    clock = time;
    restartGateway();
    nodes(2);
    for (int i = 0; i < 2_001; i++) {
      laptop.write("data/" + i, "x" + i);
    }
    laptop.write("a.py", "1");
    push();
    editors().move("data", "moved");

    comesHome(time);
    assertEquals(2_002, laptop.tree().size());
    sync.rescan(Optional.empty(), Set.of());
    sync.pushLooked(all(), false);
    comesHome(time);

    assertEquals(editors().tree(), laptop.tree());
    assertEquals(Set.of(), trash());
  }

  /** The same for folders. */
  @Test
  void whatMayBeInANewFolderThatIsNotLookedIntoIsNotDeletedHere() throws Exception {
    var time = new ManualClock();
    clock = time;
    restartGateway();
    nodes(1);
    for (int i = 0; i < 501; i++) {
      laptop.write("data/" + i + "/x", "x" + i);
    }
    laptop.write("a.py", "1").write("b.py", "1");
    push();
    editors().delete("a.py").move("data", "moved");

    assertEquals(List.of("a.py"), comesHome(time));

    assertEquals(502, laptop.tree().size());
    assertEquals(Set.of("a.py"), trash());
    assertEquals("it is one of too many new folders", sync.home().staying().get("moved/7/"));
  }

  @Test
  void aRenamedFolderAmongTooManyNewOnesIsNotDeletedHere() throws Exception {
    var time = new ManualClock();
    clock = time;
    restartGateway();
    nodes(1);
    for (int i = 0; i < 100; i++) {
      laptop.write((i < 10 ? "data/" : "src/") + i, "x" + i);
    }
    push();
    for (int i = 0; i < 501; i++) {
      editors().write("new" + i + "/x", "y");
    }
    editors().move("data", "data2");

    assertEquals(List.of(), comesHome(time));

    assertEquals(100, laptop.tree().size());
    assertEquals(Set.of(), trash());
  }

  @Test
  void whatWasChangedHereIsNeitherDeletedNorReplaced() throws Exception {
    nodes(1);
    laptop.write("a.py", "1").write("b.py", "1").write("c.py", "1").write("d.py", "1");
    push();
    editors().delete("a.py").write("new.py", "there");
    laptop.write("a.py", "edited here");
    laptop.write("new.py", "here");

    assertEquals(List.of("a.py DELETED_THERE 0", "new.py CHANGED_BOTH 0"), held());

    assertEquals("edited here", laptop.read("a.py"));
    assertEquals("here", laptop.read("new.py"));
    assertEquals("there", editors().read("new.py"));
    assertFalse(Files.exists(there("a.py")));
    editors().delete("new.py").write("a.py", "1");
    assertAllHold(push());
    assertEquals("edited here", editors().read("a.py"));
  }

  @Test
  void aSaveHereAtTheLastMomentWins() throws Exception {
    nodes(1);
    laptop.write("a.py", "1").write("b.py", "1").write("c.py", "1");
    push();
    editors().write("new.py", "there");
    // Between the look and the copy.
    nodes.getFirst().beforePull = _ -> laptop.write("new.py", "here");

    assertEquals(List.of("new.py CHANGED_BOTH 0"), held());

    assertEquals("here", laptop.read("new.py"));
    assertEquals("there", editors().read("new.py"));
  }

  /** As an editor does that saves twice. */
  @Test
  void whatIsSavedThereAgainBeforeItIsSentComesAgain() throws Exception {
    nodes(2);
    laptop.write("a.py", "1").write("b.py", "1");
    push();
    editors().write("new.py", "first");
    boolean[] isSaved = {false};
    nodes.getFirst().beforePrepare =
        () -> {
          if (!isSaved[0]) {
            isSaved[0] = true;
            editors().write("new.py", "second");
          }
        };

    assertAllHold(push());

    assertEquals("second", laptop.read("new.py"));
    assertEquals("second", nodes.get(1).folder().read("new.py"));
  }

  @Test
  void everythingStaysWhereTheConfigurationSaysSo() throws Exception {
    editors = new Editors(0, Merge.Editing.STAYS);
    restartGateway();
    nodes(1);
    laptop.write("a.py", "1").write("b.py", "1").write("c.py", "1");
    push();
    editors().write("new.py", "there").delete("a.py");

    push();

    assertEquals("1", editors().read("a.py"));
    assertEquals(Set.of("a.py", "b.py", "c.py"), laptop.tree().keySet());
    assertTrue(sync.home().staying().isEmpty());
  }
}
