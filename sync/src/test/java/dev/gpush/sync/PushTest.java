package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.SyncFailure.HeldPath;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.session.SyncView;
import dev.gpush.sync.node.NodeHolds;
import dev.gpush.sync.tree.Generation;
import dev.gpush.sync.tree.Version;
import dev.gpush.testkit.fake.ManualClock;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whole pushes to the real node side. */
@Execution(ExecutionMode.CONCURRENT)
class PushTest extends SyncFixture {

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void bringsAllKindsOfFilesToAllNodes(int count) throws Exception {
    nodes(count);
    var random = new Random(1);
    var large = new byte[5_000_000];
    random.nextBytes(large);
    laptop.write("a.py", "print(1)\n").write("empty", "").write("large", large);
    laptop.write("zeros", new byte[700_000]).write("ünï/日本\n語", "x").write(" sp ace/\"q'", "y");
    laptop.write("d/".repeat(60) + "deep", "z").write("x".repeat(250) + "/long", "z");
    laptop.write("run.sh", "#!/bin/sh\n");
    laptop.executable("run.sh", true);
    laptop.link("l", "d/d");
    laptop.link("d/up", "../a.py");

    Generation first = push();

    assertEquals(1, first.counter());
    for (FakeNode node : nodes) {
      assertEquals(laptop.tree(), node.folder().tree());
      assertEquals("1 " + first.root() + "\n", Files.readString(state(node).resolve("generation")));
    }
    assertEquals(first, push());
    assertAllHold(first);
  }

  @Test
  void onlyWhatChangedTravels() throws Exception {
    nodes(3);
    var random = new Random(2);
    for (int i = 0; i < 200; i++) {
      var bytes = new byte[10_000];
      random.nextBytes(bytes);
      laptop.write("d" + i % 10 + "/f" + i, bytes);
    }
    push();
    nodes.forEach(node -> assertTrue(node.toNode.get() > 2_000_000));

    laptop.write("d1/f1", "new");
    assertTrue(traffic(this::push) < 1_000, "one file");
    Files.move(laptop.path().resolve("d2"), laptop.path().resolve("other"));
    assertTrue(traffic(this::push) < 5_000, "a renamed folder");
    laptop.executable("other/f2", true);
    assertTrue(traffic(this::push) < 1_000, "a mode");
    laptop.delete("d3");
    assertTrue(traffic(this::push) < 1_000, "a deleted folder");
    assertTrue(traffic(this::push) < 200, "nothing");

    restartGateway();
    assertTrue(traffic(this::push) < 500, "nothing, with a new gateway");
    assertAllFollow();
  }

  @Test
  void showsHowFarTheNodeIsThatHasMostToGet() throws Exception {
    nodes(1);
    laptop.write("a", "1");
    push();
    nodes.add(new FakeNode(1, base.resolve("node-1/project"), base));
    laptop.write("b", "2").write("c", "3");
    talk.shown.clear();

    push();

    assertEquals(
        List.of("0 of 3 sent", "1 of 3 sent", "2 of 3 sent", "3 of 3 sent"),
        talk.shown.stream().filter(each -> each.endsWith("sent")).toList());
  }

  @Test
  void compressesWhenItPays() throws Exception {
    nodes(1);
    laptop.write("text", "the same line again\n".repeat(100_000));
    assertTrue(traffic(this::push) < 50_000);
  }

  @Test
  void aPushWithoutChangeIsOneFlightPerNode() throws Exception {
    nodes(3);
    for (int i = 0; i < 50; i++) {
      laptop.write("f" + i, "x" + i);
    }
    push();
    List<Integer> before = nodes.stream().map(node -> node.flights.get()).toList();
    push();
    for (int i = 0; i < 3; i++) {
      assertEquals(before.get(i) + 1, nodes.get(i).flights.get());
      assertEquals(1, nodes.get(i).opened.get());
    }
  }

  @Test
  void aPushLooksAtTheNodeAndThenTakesOneFlightForContentsAndOneForTheRest() throws Exception {
    nodes(1);
    laptop.write("a", "1");
    push();
    int before = nodes.getFirst().flights.get();
    laptop.write("a", "2");
    push();
    assertEquals(
        3, nodes.getFirst().flights.get() - before, "a look, contents, prepare with commit");
  }

  @Test
  void deletesWhatIsGoneHereAndNothingElse() throws Exception {
    nodes(2);
    laptop.write("keep", "1").write("d/e/gone", "1").write("f/gone", "1");
    push();
    for (FakeNode node : nodes) {
      node.folder().write("f/theirs", "checkpoint").write("out/log", "x");
    }
    laptop.delete("d");
    laptop.delete("f");

    push();

    for (FakeNode node : nodes) {
      assertEquals(
          List.of("f/theirs", "keep", "out/log"), List.copyOf(node.folder().tree().keySet()));
      assertFalse(WorkFolder.exists(node.folder().path().resolve("d")));
    }
  }

  @Test
  void aFileOfWhichOnlyTheModeDriftedIsNotWhatIsHeld() throws Exception {
    nodes(3);
    laptop.write("a", "1");
    push();
    nodes.get(1).folder().executable("a", true);
    nodes.get(2).folder().write("a", "edited there");

    assertEquals(List.of("a OTHER_NODE 2"), held());
  }

  @Test
  void whatDriftedOnOneNodeIsHeldAndTheRestGoes() throws Exception {
    nodes(3);
    laptop.write("a", "1").write("b", "1").write("same", "1");
    push();
    nodes.get(1).folder().write("a", "edited there").write("new", "made there").write("same", "2");
    laptop.write("a", "2").write("b", "2").write("same", "2");

    assertEquals(List.of("a OTHER_NODE 1"), held());
    laptop.write("a", "edited there").write("new", "other");
    assertEquals(List.of("new OTHER_NODE 1"), held());

    for (int i = 0; i < 3; i++) {
      assertEquals("2", nodes.get(i).folder().read("b"));
      assertEquals("2", nodes.get(i).folder().read("same"));
      assertEquals("edited there", nodes.get(i).folder().read("a"));
      assertEquals(sync.last().generation(), held(nodes.get(i)).generation());
    }
    assertEquals("made there", nodes.get(1).folder().read("new"));
    assertFalse(WorkFolder.exists(nodes.get(2).folder().path().resolve("new")));
    assertEquals(3, sync.last().generation().counter());
  }

  @Test
  void overwriteKeepsTheirsInTheTrash() throws Exception {
    nodes(2);
    laptop.write("a", "1").write("p/q", "1");
    push();
    nodes.get(1).folder().write("a", "edited").write("dir/x", "theirs");
    nodes.get(1).folder().delete("p");
    nodes.get(1).folder().write("p", "a file now");
    laptop.write("dir", "a file here");

    assertEquals(
        List.of("a OTHER_NODE 1", "dir IN_THE_WAY 1", "p IN_THE_WAY 1", "p/q IN_THE_WAY 0"),
        held());
    Generation moved = sync.push(all(), PushOptions.standard().overwriting(), talk);

    assertEquals(laptop.tree(), nodes.get(1).folder().tree());
    Path trash = state(nodes.get(1)).resolve("trash").resolve(moved.toString());
    assertEquals(
        Map.of("a", "edited", "p", "a file now", "dir/x", "theirs"),
        contents(new WorkFolder(trash)));
    assertEquals(List.of("node 1: overwritten files are in " + trash), talk.said);
    assertAllHold(moved);
  }

  @Test
  void theOldestOfTheTrashGoesAndIsNamed() throws Exception {
    nodes(1);
    laptop.write("a", "1");
    push();
    var trash = new WorkFolder(state(nodes.getFirst()).resolve("trash"));
    for (int i = 0; i < 106; i++) {
      trash.write("G" + (10 + i) + "/a", "old");
      Files.setLastModifiedTime(trash.path().resolve("G" + (10 + i)), FileTime.fromMillis(i));
    }
    nodes.getFirst().folder().write("a", "edited");
    laptop.write("a", "2");

    sync.push(all(), PushOptions.standard().overwriting(), talk);

    assertEquals(
        List.of(
            "node 0: overwritten files are in " + trash.path().resolve("G2"),
            "node 0: its trash was over the limit; removed the oldest: G10, G11, G12, G13, G14, …"),
        talk.said);
    push(); // answered when the removal, which comes after the commit, is done
    assertEquals(101, trash.path().toFile().list().length);
    assertEquals("edited", trash.read("G2/a"));
  }

  @Test
  void whatWasDeletedThereComesBackAndWhatWasChangedThereIsNotDeleted() throws Exception {
    nodes(2);
    laptop.write("a", "1").write("b", "1");
    push();
    nodes.get(1).folder().delete("a");
    nodes.get(1).folder().write("b", "edited");
    laptop.delete("b");

    push();

    assertEquals(Map.of("a", "1", "b", "edited"), contents(nodes.get(1).folder()));
    assertEquals(List.of("node 1 keeps files that were changed there: b"), talk.said);
  }

  @Test
  void filesThatAreThereAlreadyAreAdoptedEvenWhenTheNodeLostItsMemory() throws Exception {
    nodes(1);
    laptop.write("a", "1").write("d/b", "2");
    push();
    nodes.getFirst().kill();
    new WorkFolder(state(nodes.getFirst()).getParent())
        .delete(state(nodes.getFirst()).getFileName().toString());

    push();

    assertEquals(laptop.tree(), nodes.getFirst().folder().tree());
    assertEquals(List.of(), nodes.getFirst().release());
  }

  /** They were counted from one again, and `run --at` gave other files. */
  @Test
  void nodesThatAllStartAgainEmptyGetAnotherNumber() throws Exception {
    nodes(1);
    for (int i = 1; i <= 3; i++) {
      laptop.write("a", "version " + i);
      assertEquals(i, push().counter());
    }
    startsAgainEmpty(nodes.getFirst());
    assertEquals(4, push().counter());

    startsAgainEmpty(nodes.getFirst());
    restartGateway();
    sync.last().numberAfter(() -> 9);
    assertEquals(10, push().counter());
  }

  @Test
  void aTreeChangesItsShapeAtRandomAndEveryNodeFollows() throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.out.println("PushTest seed " + seed);
    var random = new Random(seed);
    nodes(2);
    for (int round = 0; round < 12; round++) {
      mutate(random);
      push();
      for (FakeNode node : nodes) {
        assertEquals(laptop.tree(), node.folder().tree(), "seed " + seed + " round " + round);
      }
    }
    for (FakeNode node : nodes) {
      assertEquals(List.of(), node.release());
      assertFalse(WorkFolder.exists(node.folder().path()));
      assertFalse(WorkFolder.exists(state(node)));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void aNodeThatDiesAnywhereConverges(int count) throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.out.println("PushTest seed " + seed);
    var random = new Random(seed);
    nodes(count);
    var moved = new ArrayList<Generation>();
    for (int round = 0; round < 12; round++) {
      mutate(random);
      FakeNode victim = nodes.get(random.nextInt(count));
      victim.kill();
      victim.dieAt = 1 + random.nextInt(60);
      moved.add(push());
      for (FakeNode node : nodes) {
        assertEquals(laptop.tree(), node.folder().tree(), "seed " + seed + " round " + round);
      }
    }
    assertAllHold(moved.getLast());
  }

  @Test
  void aFileThatChangesWhileItIsSentIsSentAsItIsThen() throws Exception {
    nodes(2);
    laptop.write("a", "before").write("b", "1").write("gone", "1");
    talk.onceAt(
        "syncing",
        () -> {
          laptop.write("a", "after!");
          laptop.path().resolve("gone").toFile().delete();
        });
    push();
    assertAllFollow();
  }

  @Test
  void anInterruptEndsThePushAndTheNextOneWorks() throws Exception {
    nodes(2);
    laptop.write("a", "1");
    talk.onceAt("syncing", () -> Thread.currentThread().interrupt());
    assertThrows(InterruptedException.class, this::push);
    assertFalse(Thread.interrupted());
    push();
    assertAllFollow();
  }

  @Test
  void nodesThatShareAFolderGetItOnce() throws Exception {
    Path shared = base.resolve("shared/project");
    for (int i = 0; i < 3; i++) {
      nodes.add(new FakeNode(i, shared, base));
    }
    var bytes = new byte[100_000];
    new Random(3).nextBytes(bytes);
    laptop.write("a", bytes);

    Generation first = push();

    assertEquals(1, nodes.stream().filter(node -> node.toNode.get() > 100_000).count());
    assertEquals(laptop.tree(), nodes.getFirst().folder().tree());
    laptop.write("a", "2").write("b/c", "3");
    Generation second = push();
    assertEquals(first.counter() + 1, second.counter());
    assertAllHold(second);
    assertEquals(second, push());
    nodes.get(2).folder().write("a", "edited");
    for (FakeNode node : nodes) {
      assertEquals(Set.of("a"), held(node).deviations().keySet());
    }
    // It is edited on node 0 as well, where editors work.
    restartGateway();
    assertAllHold(push());
    assertEquals("edited", laptop.read("a"));
  }

  @Test
  void aNodeTellsWhatDrifted() throws Exception {
    nodes(2);
    laptop.write("a", "1").write("b", "1").write("c", "1");
    Generation first = push();
    assertAllHold(first);
    nodes.get(1).folder().write("a", "2").delete("b");
    nodes.get(1).folder().executable("c", true);

    NodeHolds held = held(nodes.get(1));

    assertEquals(first, held.generation());
    assertEquals(Set.of("a", "b", "c"), held.deviations().keySet());
    Version was = Version.of(held.manifest().get("c"));
    assertFalse(held.now("a").hasBytesOf(was) || held.now("a").isAbsent());
    assertTrue(held.now("b").isAbsent());
    assertTrue(held.now("c").hasBytesOf(was) && !held.now("c").is(was));
    assertEquals(Map.of(), held(nodes.getFirst()).deviations());
  }

  @Test
  void aTreeThatVanishedIsAskedAbout() throws Exception {
    nodes(1);
    for (int i = 0; i < 60; i++) {
      laptop.write("d/f" + i, "x" + i);
    }
    laptop.write("a", "1");
    push();
    laptop.delete("d");
    assertInstanceOf(UsageFailure.NobodyToAsk.class, failure(this::push));
    assertEquals(61, nodes.getFirst().folder().tree().size());
    talk.answer = FakeTalk.Answer.YES;
    push();
    assertEquals(1, nodes.getFirst().folder().tree().size());
  }

  /** A save had six attempts, whatever each of them found. */
  @Test
  void eachAttemptMayFindAnotherPathInTheWay() throws Exception {
    nodes(1);
    FakeNode node = nodes.getFirst();
    List<String> names = IntStream.range(0, 8).mapToObj(i -> "f" + i).toList();
    for (String name : names) {
      laptop.write(name, "1");
    }
    push();
    for (String name : names) {
      laptop.write(name, "here");
    }
    var left = new ArrayDeque<>(names);
    node.beforePrepare =
        () -> {
          if (!left.isEmpty()) {
            node.folder().write(left.remove(), "there");
          }
        };
    sync.rescan(Optional.empty(), Set.of());

    sync.pushLooked(all(), false);

    assertEquals(names, sync.last().held().stream().map(HeldPath::path).toList());
  }

  /** A slow rm -r came in many saves, each of them too small for the question. */
  @Test
  void manyDeletionsInManySavesAreAskedAbout() throws Exception {
    var time = new ManualClock();
    clock = time;
    restartGateway();
    nodes(1);
    for (int i = 0; i < 100; i++) {
      laptop.write("d/f" + i, "x" + i);
    }
    push();
    for (int i = 0; i < 50; i++) {
      deletedAndSaved("d/f" + i);
      time.advance(Duration.ofSeconds(1));
    }

    assertInstanceOf(UsageFailure.NobodyToAsk.class, failure(() -> deletedAndSaved("d/f50")));
    time.advance(Duration.ofMinutes(1));
    assertInstanceOf(UsageFailure.NobodyToAsk.class, failure(() -> deletedAndSaved("d/f51")));

    assertEquals(50, nodes.getFirst().folder().tree().size());
    talk.answer = FakeTalk.Answer.YES;
    push();
    String question =
        "52 of 100 files are gone here (50 are removed on the nodes already)."
            + " Remove them on the nodes too?";
    assertEquals(List.of(question), talk.asked);
    deletedAndSaved("d/f52");
    assertEquals(47, nodes.getFirst().folder().tree().size());
  }

  /** Also while one that is held waits for its user. */
  @Test
  void deletionsWithPausesAreNotCountedTogether() throws Exception {
    var time = new ManualClock();
    clock = time;
    restartGateway();
    nodes(1);
    for (int i = 0; i < 100; i++) {
      laptop.write("d/f" + i, "x" + i);
    }
    push();
    nodes.getFirst().folder().write("d/f99", "changed there");
    laptop.delete("d/f99");
    assertInstanceOf(SyncFailure.Held.class, failure(this::push));
    for (int i = 0; i < 60; i++) {
      deletedAndSaved("d/f" + i);
      time.advance(Duration.ofSeconds(11));
    }
    assertEquals(List.of("d/f99"), sync.last().held().stream().map(HeldPath::path).toList());
    assertEquals(40, nodes.getFirst().folder().tree().size());
  }

  private void deletedAndSaved(String path) throws Exception {
    laptop.delete(path);
    sync.rescan(Optional.empty(), Set.of());
    sync.pushLooked(all(), false);
  }

  @Test
  void aCheckoutDeletesWithoutAsking() throws Exception {
    nodes(1);
    Path home = Files.createDirectories(base.resolve("home"));
    laptop.git(home, "init", "-q");
    laptop.write("a", "1");
    laptop.git(home, "add", ".");
    laptop.git(home, "commit", "-qm", "1");
    laptop.git(home, "checkout", "-qb", "other");
    for (int i = 0; i < 60; i++) {
      laptop.write("d/f" + i, "x" + i);
    }
    laptop.git(home, "add", ".");
    laptop.git(home, "commit", "-qm", "2");
    push();
    laptop.git(home, "checkout", "-q", "-");
    push();
    assertEquals(1, nodes.getFirst().folder().tree().size());
  }

  /** A commit moves HEAD and deletes nothing, and what went after it was taken for a checkout. */
  @Test
  void aTreeThatVanishedAfterACommitIsAskedAbout() throws Exception {
    nodes(1);
    Path home = Files.createDirectories(base.resolve("home"));
    laptop.git(home, "init", "-q");
    laptop.write("a", "1");
    for (int i = 0; i < 60; i++) {
      laptop.write("d/f" + i, "x" + i);
    }
    push();
    laptop.git(home, "add", ".");
    laptop.git(home, "commit", "-qm", "1");
    sync.rescan(Optional.empty(), Set.of());
    laptop.delete("d");
    sync.rescan(Optional.empty(), Set.of());

    assertInstanceOf(UsageFailure.NobodyToAsk.class, failure(this::push));

    assertEquals(61, nodes.getFirst().folder().tree().size());
  }

  @Test
  @Tag("speed")
  void carriesMoreThanOneMessageFull() throws Exception {
    nodes(1);
    for (int i = 0; i < 5_000; i++) {
      laptop.write("some/folder/of/length/" + i % 100 + "/file-" + i + ".py", "content " + i);
    }
    push();
    restartGateway();
    laptop.write("one", "1");
    assertTrue(traffic(this::push) < 1_000);
    assertAllFollow();
  }

  // ---- pull

  @Test
  void pullsAFileWholeAndTheNextPushAdoptsIt() throws Exception {
    nodes(2);
    laptop.write("a.py", "1").write("run.sh", "1");
    push();
    nodes.get(1).folder().write("a.py", "edited there").write("out/x", new byte[600_000]);
    nodes.get(1).folder().link("out/l", "x");
    assertEquals(List.of("a.py OTHER_NODE 1"), held());
    nodes.get(1).folder().executable("run.sh", true);

    pull(1, "a.py");
    pull(1, "out");
    pull(1, "run.sh");

    assertEquals("edited there", laptop.read("a.py"));
    assertEquals(nodes.get(1).folder().tree(), laptop.tree());
    push();
    assertAllFollow();
  }

  @Test
  void pullAsksBeforeItReplacesWhatWasChangedHere() throws Exception {
    nodes(1);
    laptop.write("a", "1");
    push();
    nodes.getFirst().folder().write("a", "there");
    laptop.write("a", "here");
    assertInstanceOf(UsageFailure.NobodyToAsk.class, failure(() -> pull(0, "a")));
    assertEquals("here", laptop.read("a"));
    talk.answer = FakeTalk.Answer.YES;
    pull(0, "a");
    assertEquals("there", laptop.read("a"));
    assertEquals(List.of("a"), List.copyOf(laptop.tree().keySet()));
    String said = "what was here is kept: ";
    String kept = talk.said.stream().filter(line -> line.startsWith(said)).findFirst().orElse("");
    assertEquals("here", Files.readString(Path.of(kept.substring(said.length()))));
    SyncView.Trash trash = sync.last().trashes().getFirst();
    assertEquals(1, trash.files());
    assertTrue(kept.contains(trash.folder()), kept);
  }

  @Test
  void pullKeepsPermissionsAndAsksForTheExecutableBit() throws Exception {
    nodes(1);
    laptop.write("a", "1");
    push();
    Path here = laptop.path().resolve("a");
    Files.setPosixFilePermissions(here, PosixFilePermissions.fromString("rw-r-----"));
    nodes.getFirst().folder().write("a", "there");
    pull(0, "a");
    assertEquals("there", laptop.read("a"));
    var kept = Files.getPosixFilePermissions(here);
    assertEquals("rw-r-----", PosixFilePermissions.toString(kept));

    push();
    Files.setPosixFilePermissions(here, PosixFilePermissions.fromString("rwxr-----"));
    nodes.getFirst().folder().write("a", "again");
    assertInstanceOf(UsageFailure.NobodyToAsk.class, failure(() -> pull(0, "a")));
  }

  @Test
  void pullNeverLeavesTheRoot() throws Exception {
    nodes(1);
    laptop.write("a", "1");
    push();
    nodes.getFirst().folder().write("d/x", "1").link("d/out", "../../secret");
    Path outside = Files.createDirectories(base.resolve("outside"));
    laptop.link("escape", "../outside");
    for (Path target : List.of(base.resolve("x"), laptop.path().resolve("../x"), laptop.path())) {
      assertInstanceOf(
          UsageFailure.BadValue.class,
          failure(() -> sync.pull(nodes.getFirst(), "d/x", target, talk)),
          target.toString());
    }
    for (Path target :
        List.of(
            laptop.path().resolve("escape/x"), laptop.path().resolve(".git/hooks/post-checkout"))) {
      assertInstanceOf(
          SyncFailure.NotPulled.class,
          failure(() -> sync.pull(nodes.getFirst(), "d/x", target, talk)),
          target.toString());
    }
    assertEquals(new SyncFailure.NoSuchPath(0, "nothing"), failure(() -> pull(0, "nothing")));
    assertThrows(
        GpushException.class,
        () -> sync.pull(nodes.getFirst(), "../x", laptop.path().resolve("y"), talk));
    pull(0, "d");
    assertFalse(Files.exists(laptop.path().resolve("d/out"), LinkOption.NOFOLLOW_LINKS));
    assertTrue(talk.said.contains("not pulled, because it points out of the workspace: d/out"));
    assertEquals(0, outside.toFile().list().length);
  }

  // ----

  private void assertAllFollow() throws Exception {
    for (FakeNode node : nodes) {
      assertEquals(laptop.tree(), node.folder().tree());
    }
  }

  private void pull(int node, String path) throws InterruptedException {
    sync.pull(nodes.get(node), path, laptop.path().resolve(path), talk);
  }

  private void mutate(Random random) throws Exception {
    var paths = new ArrayList<>(laptop.tree().keySet());
    for (int i = random.nextInt(6) + 1; i > 0; i--) {
      String path =
          List.of("a", "b", "d", "d/a", "d/e", "d/e/f", "g.py", "h/i/j").get(random.nextInt(8));
      Path file = laptop.path().resolve(path);
      boolean isBlocked =
          paths.stream().anyMatch(other -> path.startsWith(other + "/"))
              || Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS);
      if (isBlocked && random.nextInt(3) > 0) {
        continue;
      }
      for (Path above = file; !above.equals(laptop.path()); above = above.getParent()) {
        if (WorkFolder.exists(above)
            && (above.equals(file) || !Files.isDirectory(above, LinkOption.NOFOLLOW_LINKS))) {
          laptop.delete(laptop.path().relativize(above).toString());
        }
      }
      switch (random.nextInt(6)) {
        case 0 -> {}
        case 1 -> laptop.link(path, List.of("a", "b", "g.py").get(random.nextInt(3)));
        default -> {
          laptop.write(path, List.of("", "1", "2", "three").get(random.nextInt(4)));
          laptop.executable(path, random.nextInt(4) == 0);
        }
      }
      paths = new ArrayList<>(laptop.tree().keySet());
    }
    laptop.write("always", "1");
  }

  private static Map<String, String> contents(WorkFolder folder) throws Exception {
    var found = new TreeMap<String, String>();
    for (String path : folder.tree().keySet()) {
      found.put(path, folder.read(path));
    }
    assertNotEquals(Map.of(), found);
    return found;
  }
}
