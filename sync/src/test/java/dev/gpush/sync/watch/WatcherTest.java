package dev.gpush.sync.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What inotify reports of all the ways in which files are written. */
@Execution(ExecutionMode.CONCURRENT)
@EnabledOnOs(OS.LINUX)
final class WatcherTest {
  private static final Duration FOREVER = Duration.ofDays(1);
  private static final int BURST = 40_000;

  @TempDir private Path root;
  private Tasks tasks;
  private InotifyWatcher watcher;

  @BeforeEach
  void open() throws IOException {
    tasks = Tasks.named("watcher-test", (thread, failure) -> failure.printStackTrace());
    watcher = InotifyWatcher.open(Integer.MAX_VALUE, tasks);
    watcher.watch(root);
  }

  @AfterEach
  void close() {
    watcher.close();
    tasks.close();
  }

  /** What is reported until this holds. */
  private Set<Path> until(Predicate<Hints> holds) throws InterruptedException {
    var folders = new HashSet<Path>();
    while (true) {
      Hints hints = watcher.await(FOREVER);
      folders.addAll(hints.folders());
      if (holds.test(hints)) {
        return folders;
      }
    }
  }

  private void assertReported(Path folder) throws InterruptedException {
    until(hints -> hints.folders().contains(folder));
  }

  @Test
  void reportsAFileThatIsWrittenInPlace() throws Exception {
    Files.writeString(root.resolve("train.py"), "x = 1\n");
    assertReported(root);

    Files.writeString(root.resolve("train.py"), "x = 2\n");
    assertReported(root);
  }

  @Test
  void reportsARenameOverAFile() throws Exception {
    Files.writeString(root.resolve("train.py"), "x = 1\n");
    Files.writeString(root.resolve("train.py.tmp"), "x = 2\n");
    assertReported(root);

    Files.move(
        root.resolve("train.py.tmp"), root.resolve("train.py"), StandardCopyOption.ATOMIC_MOVE);
    assertReported(root);
  }

  @Test
  void tellsAFileThatIsStillWrittenFromOneThatIsComplete() throws Exception {
    try (OutputStream out = Files.newOutputStream(root.resolve("log"), StandardOpenOption.CREATE)) {
      out.write('a');
      out.flush();
      Set<Path> complete =
          until(hints -> hints.open().getOrDefault(root, Set.of()).contains("log"));
      assertEquals(Set.of(), complete);
    }
    assertReported(root);
  }

  @Test
  void reportsAnIgnoredFileOnlyAfterItsFolderIsWatchedAgain() throws Exception {
    watcher.ignore(root, name -> name.endsWith(".log"));
    try (OutputStream log = Files.newOutputStream(root.resolve("train.log"))) {
      log.write('a');
      Files.createDirectory(root.resolve("folder.log"));
      var open = new HashSet<String>();
      until(
          hints -> {
            open.addAll(hints.open().getOrDefault(root, Set.of()));
            return hints.folders().contains(root);
          });
      assertEquals(Set.of(), open);

      watcher.watch(root);
      log.write('b');
      until(hints -> hints.open().getOrDefault(root, Set.of()).contains("train.log"));
    }
  }

  @Test
  void reportsNothingOfFoldersThatItDoesNotWatch() throws Exception {
    Path ignored = Files.createDirectory(root.resolve("ignored"));
    assertReported(root);

    Files.writeString(ignored.resolve("file"), "x");
    Files.writeString(root.resolve("last"), "x");

    Set<Path> folders = until(hints -> hints.folders().contains(root));
    assertEquals(Set.of(root), folders);
  }

  @Test
  void reportsAFolderThatIsDeletedAndTheOneAbove() throws Exception {
    Path folder = Files.createDirectory(root.resolve("pkg"));
    watcher.watch(folder);
    Files.delete(folder);

    assertReported(root);
    while (watcher.folders().size() > 1) {
      watcher.await(Duration.ofMillis(50));
    }
    assertEquals(1, watcher.folders().size());
  }

  @Test
  void knowsARenamedFolderByItsNewName() throws Exception {
    Path folder = Files.createDirectory(root.resolve("old"));
    watcher.watch(folder);
    Path moved = Files.move(folder, root.resolve("new"));
    watcher.watch(moved);
    watcher.forget(folder);

    Files.writeString(moved.resolve("file"), "x");

    assertReported(moved);
  }

  @Test
  void reportsEverythingWhenTheKernelHasDroppedEvents() throws Exception {
    var slow = new Inotify();
    try {
      slow.add(root);
      Path one = Files.writeString(root.resolve("one"), "");
      Path two = root.resolve("two");
      for (int i = 0; i < BURST; i++) {
        Files.move(one, two);
        Path other = one;
        one = two;
        two = other;
      }
      var masks = new HashSet<Integer>();
      slow.read(
          (watch, mask, name) -> masks.add(mask),
          () -> {
            if (masks.contains(Inotify.OVERFLOW)) {
              slow.stop();
            }
          });
      assertTrue(masks.contains(Inotify.OVERFLOW));
    } finally {
      slow.close();
    }
  }

  @Test
  void returnsWhenItIsWoken() throws Exception {
    watcher.wake();

    assertTrue(watcher.await(FOREVER).isEmpty());
  }

  @Test
  void saysThatNothingIsWatchedWhenItsThreadFails() throws Exception {
    Tasks quiet = Tasks.named("failing-watcher", (_, expected) -> {});
    try (InotifyWatcher failing = InotifyWatcher.open(Integer.MAX_VALUE, quiet)) {
      failing.watch(root);
      failing.ignore(
          root,
          name -> {
            throw new IllegalStateException(name);
          });
      Files.writeString(root.resolve("train.py"), "x = 1\n");

      assertTrue(failing.await(FOREVER).everything());
      assertTrue(failing.lacking().isPresent());
    }
  }

  @Test
  void namesNeedNotBeAscii() throws Exception {
    Path folder = Path.of(java.net.URI.create(root.toUri() + "%C3%BC"));
    Files.createDirectory(folder);
    watcher.watch(folder);
    Files.writeString(folder.resolve("file"), "x");

    assertReported(folder);
  }

  @Test
  void aTreeWithTooManyFoldersIsNotWatchedAtAll() throws Exception {
    try (InotifyWatcher few = InotifyWatcher.open(2, tasks)) {
      few.watch(root);
      few.watch(Files.createDirectory(root.resolve("a")));
      few.watch(root.resolve("a"));
      assertEquals(Optional.empty(), few.lacking());

      few.watch(Files.createDirectory(root.resolve("b")));
      few.watch(Files.createDirectory(root.resolve("c")));

      assertEquals(0, few.folders().size());
      String reason = few.lacking().orElseThrow();
      assertTrue(reason.startsWith("it has more than 2 folders, half of what"), reason);
      assertTrue(reason.contains("fs.inotify.max_user_watches (now "), reason);
      assertTrue(few.await(FOREVER).everything());
    }
  }

  @Test
  void limitsAreReadWhole() throws Exception {
    for (String limit : new String[] {InotifyLimits.WATCHES, InotifyLimits.INSTANCES}) {
      Process cat =
          new ProcessBuilder("cat", InotifyLimits.FOLDER.resolve(limit).toString()).start();
      String whole = new String(cat.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);

      assertEquals(whole.strip(), "" + InotifyLimits.read(limit).orElseThrow(), limit);
    }
    assertEquals(
        InotifyLimits.read(InotifyLimits.WATCHES).orElseThrow() / 2, InotifyLimits.mostFolders());
    assertTrue(InotifyLimits.read("max_user_nothing").isEmpty());
  }

  @Test
  void namesTheLimitOfInstances() {
    String why =
        InotifyWatcher.why(new Inotify.Failed("inotify_init1", Inotify.TOO_MANY_INSTANCES));

    assertTrue(why.contains("raise fs.inotify.max_user_instances (now "), why);
  }

  @Test
  void aSystemWithoutInotifyIsLookedAt() {
    TreeWatcher other = Watchers.of(root, tasks, _ -> Optional.empty());

    assertEquals(Optional.of("events are not used on this system yet"), other.lacking());
    other.close();
  }

  @Test
  void aDiskOfWindowsIsNamedInWsl() {
    assertTrue(Watchers.why("9p", Path.of("/mnt/c/p")).contains("folders below ~ are fast"));
    assertEquals(
        "9p reports no changes of other machines", Watchers.why("9p", Path.of("/shared/p")));
    assertEquals(
        "nfs4 reports no changes of other machines", Watchers.why("nfs4", Path.of("/mnt/p")));
  }

  @Test
  void networkFileSystemsHaveNoEvents() {
    for (String type : new String[] {"nfs4", "NFS", "fuse.sshfs", "9p", "lustre", "virtiofs"}) {
      assertTrue(Watchers.isWithoutEvents(type), type);
    }
    for (String type : new String[] {"ext4", "xfs", "btrfs", "overlay", "tmpfs", "fuseblk", ""}) {
      assertFalse(Watchers.isWithoutEvents(type), type);
    }
  }
}
