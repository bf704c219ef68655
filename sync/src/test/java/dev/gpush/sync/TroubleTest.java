package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.session.Sessions.KeepRequest;
import dev.gpush.sync.tree.Generation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** File systems that are full or cannot be written: real ones, so these need root and mount. */
class TroubleTest extends SyncFixture {
  private final Deque<Path> mounts = new ArrayDeque<>();

  private void mount(Path folder, String... arguments) throws IOException, InterruptedException {
    Files.createDirectories(folder);
    var command = new ArrayList<String>();
    command.add("mount");
    command.addAll(List.of(arguments));
    command.add(folder.toString());
    assumeTrue(System.getProperty("user.name").equals("root"), "mounting needs root");
    assumeTrue(run(command) == 0, "mount is not allowed here");
    mounts.push(folder);
  }

  private static int run(List<String> command) throws IOException, InterruptedException {
    return new ProcessBuilder(command)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
  }

  @AfterEach
  void unmount() throws IOException, InterruptedException {
    for (FakeNode node : nodes) {
      node.kill();
    }
    while (!mounts.isEmpty()) {
      run(List.of("umount", mounts.pop().toString()));
    }
  }

  private static byte[] noise(int size) {
    var bytes = new byte[size];
    new Random(size).nextBytes(bytes);
    return bytes;
  }

  @Test
  void aFullNodeLeavesAllNodesWhereTheyWere() throws Exception {
    nodes(3);
    mount(base.resolve("node-1"), "-t", "tmpfs", "-o", "size=2m", "gpush-test");
    laptop.write("a", noise(300_000)).write("b", "1");
    Generation first = push();
    var before = laptop.tree();

    laptop.write("c", noise(3_000_000)).write("b", "2");
    assertInstanceOf(SyncFailure.NodeCannotWrite.class, failure(this::push));
    var full = (SyncFailure.NodeCannotWrite) failure(this::push);

    assertEquals(1, full.node());
    assertEquals("no-space", full.code());
    assertEquals(nodes.get(1).folder().path().toString(), full.path());
    for (FakeNode node : nodes) {
      assertEquals(before, node.folder().tree());
    }
    assertAllHold(first);
    laptop.delete("c");
    push();
    assertEquals(laptop.tree(), nodes.get(1).folder().tree());
  }

  @Test
  void roomForTheManifestIsPartOfThePromise() throws Exception {
    nodes(1);
    mount(base.resolve("node-0"), "-t", "tmpfs", "-o", "size=1m", "gpush-test");
    laptop.write("a", "1");
    push();
    nodes.getFirst().folder().write("theirs", noise(900_000));
    for (int i = 0; i < 400; i++) {
      laptop.write("d" + i % 20 + "/f" + i, "x" + i);
    }
    var full = (SyncFailure.NodeCannotWrite) failure(this::push);
    assertEquals("no-space", full.code());
    assertEquals(2, nodes.getFirst().folder().tree().size());
  }

  @Test
  void aReadOnlyNodeIsTold() throws Exception {
    nodes(2);
    laptop.write("a", "1");
    push();
    Path place = base.resolve("node-1");
    nodes.get(1).kill();
    mount(place, "--bind", place.toString());
    assumeTrue(
        run(List.of("mount", "-o", "remount,ro,bind", place.toString())) == 0,
        "a bind mount cannot be made read-only here");
    laptop.write("a", "2");

    var failed = (SyncFailure.NodeCannotWrite) failure(this::push);

    assertEquals(1, failed.node());
    assertEquals("read-only", failed.code());
    assertEquals("1", nodes.get(0).folder().read("a"));
  }

  @Test
  void aRootThatIsItsOwnFileSystemIsWrittenByRenamesInIt() throws Exception {
    nodes(1);
    mount(nodes.getFirst().folder().path(), "-t", "tmpfs", "-o", "size=8m", "gpush-test");
    laptop.write("a", "1").write("d/b", noise(500_000)).link("l", "a");
    push();
    nodes.getFirst().folder().write("a", "edited");
    laptop.write("a", "2");
    assertEquals(List.of("a CHANGED_BOTH 0"), held());
    sync.push(all(), PushOptions.standard().overwriting(), talk);

    var own = new WorkFolder(nodes.getFirst().folder().path().resolve(".gpush"));
    assertEquals("edited", own.read("trash/G2/a"));
    own.delete("trash");
    assertEquals(laptop.tree(), nodes.getFirst().folder().tree());
    assertEquals(List.of(), nodes.getFirst().release());
    assertEquals(0, nodes.getFirst().folder().tree().size());
  }

  @Test
  void aMountInsideTheTreeIsWrittenToo() throws Exception {
    nodes(1);
    laptop.write("data/a", "1").write("b", "1");
    mount(
        nodes.getFirst().folder().path().resolve("data"),
        "-t",
        "tmpfs",
        "-o",
        "size=1m",
        "gpush-test");
    push();
    laptop.write("data/a", "2").write("data/sub/c", "3").link("data/l", "a");
    push();
    assertEquals(laptop.tree(), nodes.getFirst().folder().tree());
    nodes.getFirst().folder().write("data/a", "edited");
    laptop.write("data/a", "3");
    sync.push(all(), PushOptions.standard().overwriting(), talk);
    var tree = nodes.getFirst().folder().tree();
    assertEquals(laptop.tree().get("data/a"), tree.get("data/a"));
    assertEquals(
        1, tree.keySet().stream().filter(path -> path.startsWith("data/a.gpush-trash-")).count());
  }

  @Test
  void whatCannotBeWrittenHereIsHeldAlone() throws Exception {
    nodes(1);
    laptop.write("d/edited", "1").write("d/gone", "1").write("d/named", "1").write("e", "1");
    push();
    laptop.write("mine", "1");
    Path readOnly = laptop.path().resolve("d");
    mount(readOnly, "--bind", readOnly.toString());
    mount(readOnly, "-o", "remount,bind,ro");
    WorkFolder there = nodes.getFirst().folder();
    there.write("d/edited", "2").write("d/new.py", "1").write("e", "2").write("new.py", "1");
    there.delete("d/gone");
    Files.move(there.path().resolve("d/named"), there.path().resolve("named"));

    sync.rescan(Optional.empty(), Set.of());
    comeHome();
    sync.pushLooked(all(), false);
    assertEquals("2", laptop.read("e"));
    assertEquals("1", there.read("mine"));
    assertEquals(List.of("d/edited CANNOT_COME 0"), held());

    assertEquals("Read-only file system here", sync.last().held().getFirst().detail());
    assertEquals("1", laptop.read("new.py"));
    assertEquals("1", laptop.read("d/named"));
    assertEquals("1", laptop.read("d/gone"));
    try (var trash = Files.list(base.resolve("trash"))) {
      assertEquals(List.of(), trash.toList());
    }
    assertEquals("Read-only file system here", sync.home().staying().get("d/new.py"));
    assertEquals(
        new SyncFailure.NotWritten("d/edited", "Read-only file system here"),
        failure(
            () -> {
              var request = new KeepRequest(KeepRequest.Side.NODE, List.of("d/edited"));
              sync.push(all(), PushOptions.standard().keeping(request), talk);
            }));
  }
}
