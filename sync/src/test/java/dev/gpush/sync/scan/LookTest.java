package dev.gpush.sync.scan;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.sync.WorkFolder;
import dev.gpush.sync.git.GitPlaces;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.tree.Scan;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A look at the folders that have changed finds what a scan of everything finds. */
@Execution(ExecutionMode.CONCURRENT)
final class LookTest {
  private static final int STEPS = Integer.getInteger("gpush.looks", 150);

  @TempDir private Path base;
  private WorkFolder folder;
  private Tasks tasks;
  private final Set<Path> entered = new HashSet<>();
  private final Map<Path, Predicate<String>> ignored = new HashMap<>();

  @BeforeEach
  void start() throws IOException {
    folder = new WorkFolder(Files.createDirectories(base.resolve("work")));
    tasks = Tasks.named("look-test", (thread, failure) -> failure.printStackTrace());
  }

  @AfterEach
  void stop() {
    tasks.close();
  }

  private TreeScan scan(String cache, ScanLimits limits) {
    return scan(cache, limits, Clock.system());
  }

  private TreeScan scan(String cache, ScanLimits limits, Clock clock) {
    var places =
        GitPlaces.of(Map.of("HOME", base.resolve("home").toString(), "GIT_CONFIG_NOSYSTEM", "1"));
    var listener =
        new FolderListener() {
          @Override
          public void entering(Path path) {
            entered.add(path);
          }

          @Override
          public void listed(Path path, Predicate<String> isIgnored) {
            ignored.put(path, isIgnored);
          }

          @Override
          public void left(Path path) {
            entered.remove(path);
          }
        };
    return new TreeScan(folder.path(), places, limits, base.resolve(cache), listener, clock, tasks);
  }

  /** So that a log need not be looked at. A file with rules counts whether it is sent or not. */
  @Test
  void saysWhichNamesOfAFolderAreNeverSent() throws Exception {
    folder.write(".gitignore", "*.log\n.gpushignore\n").write("d/b", "2");
    TreeScan scan = scan("cache", ScanLimits.standard());
    scan.look(Optional.empty(), Set.of());
    Predicate<String> names = ignored.get(folder.path().resolve("d"));

    assertTrue(names.test("train.log"));
    assertFalse(names.test("train.py"));
    assertFalse(names.test(".gpushignore"));

    folder.write("d/.gpushignore", "*.py\n!*.log\n");
    scan.look(Optional.of(Set.of(folder.path().resolve("d"))), Set.of());
    names = ignored.get(folder.path().resolve("d"));

    assertFalse(names.test("train.log"));
    assertTrue(names.test("train.py"));
  }

  /** A timer that looks again costs nothing, however large the tree is. */
  @Test
  void aLookThatFindsNothingNewMakesNothingNew() throws Exception {
    folder.write("a", "1").write("d/b", "2");
    TreeScan scan = scan("cache", ScanLimits.standard());
    Manifest first = scan.look(Optional.empty(), Set.of()).manifest();

    assertSame(first, scan.look(Optional.of(Set.of()), Set.of()).manifest());
    assertSame(
        first, scan.look(Optional.of(Set.of(folder.path().resolve("d"))), Set.of()).manifest());
    assertSame(first, scan.look(Optional.empty(), Set.of()).manifest());
    folder.write("d/b", "3");
    Manifest next = scan.look(Optional.of(Set.of(folder.path().resolve("d"))), Set.of()).manifest();
    assertEquals(List.of("d/b"), next.differences(first));
  }

  /**
   * Two saves within a tick of the file system's clock have one stamp. A page that is written to
   * through a map has, too, until the kernel has saved it.
   *
   * @param ahead seconds by which the clock of the file's server is
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 60})
  void aFileThatWasReadRightAfterASaveIsReadAgain(int ahead) throws Exception {
    folder.write("lr", "1");
    TreeScan scan =
        scan("cache", ScanLimits.standard(), atTheSave("lr", Duration.ofSeconds(ahead)));
    try (FileChannel file = FileChannel.open(folder.path().resolve("lr"), READ, WRITE)) {
      MappedByteBuffer map = file.map(FileChannel.MapMode.READ_WRITE, 0, 1);
      map.put(0, (byte) '1');
      Manifest first = scan.look(Optional.empty(), Set.of()).manifest();
      map.put(0, (byte) '2');

      assertEquals(List.of("lr"), look(scan, folder.path()).manifest().differences(first));
    }
  }

  /** It was read whole at each save in its folder, because its stamp never settles. */
  @Test
  void aFileWithAStampInTheFutureIsReadAgainByALookAtEverything() throws Exception {
    folder.write("lr", "1");
    TreeScan scan = scan("cache", ScanLimits.standard(), atTheSave("lr", Duration.ofMinutes(30)));
    Path path = folder.path().resolve("lr");
    try (FileChannel file = FileChannel.open(path, READ, WRITE)) {
      MappedByteBuffer map = file.map(FileChannel.MapMode.READ_WRITE, 0, 1);
      map.put(0, (byte) '1');
      Files.setLastModifiedTime(
          path,
          FileTime.from(Files.getLastModifiedTime(path).toInstant().plus(Duration.ofHours(1))));
      Manifest first = scan.look(Optional.empty(), Set.of()).manifest();
      map.put(0, (byte) '2');

      assertEquals(first, look(scan, folder.path()).manifest());
      assertEquals(
          List.of("lr"), scan.look(Optional.empty(), Set.of()).manifest().differences(first));
    }
  }

  /** The clock of a machine on which each read is at the save of the file, or so much before. */
  private Clock atTheSave(String name, Duration before) {
    return new Clock() {
      @Override
      public Instant now() {
        try {
          return Files.getLastModifiedTime(folder.path().resolve(name)).toInstant().minus(before);
        } catch (IOException broken) {
          throw new UncheckedIOException(broken);
        }
      }

      @Override
      public long nanos() {
        return 0;
      }
    };
  }

  /** A part of it would be taken for files that a user has deleted. */
  @Test
  void aFolderThatIsMovedAwayMeanwhileIsAllThereOrAllGone() throws Exception {
    int files = 2_000;
    for (int i = 0; i < files; i++) {
      folder.write("many/" + i % 4 + "/f" + i, "");
    }
    TreeScan scan = scan("cache", ScanLimits.standard());
    Path many = folder.path().resolve("many");
    Path away = base.resolve("away");
    scan.look(Optional.empty(), Set.of());

    for (int round = 0; round < 20; round++) {
      Task<Path, IOException> move = tasks.fork("move", () -> Files.move(many, away));
      Scan found =
          round % 2 == 0
              ? scan.look(Optional.empty(), Set.of())
              : look(scan, folder.path(), many, many.resolve("0"), many.resolve("1"));
      move.get();

      assertTrue(Set.of(0, files).contains(found.manifest().entries().size()));

      Files.move(away, many);
      scan.look(Optional.empty(), Set.of());
    }
  }

  private Scan look(TreeScan scan, Path... folders) throws InterruptedException {
    return scan.look(Optional.of(List.of(folders)), Set.of());
  }

  @Test
  void findsWhatAScanFindsAfterRandomChanges() throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.out.println("LookTest seed " + seed + " (-Dgpush.seed=…)");
    var random = new Random(seed);
    folder.git(base, "init", "-q");
    for (int i = 0; i < 30; i++) {
      change(random);
    }
    TreeScan scan = scan("cache", ScanLimits.standard());
    scan.scan(Talk.silent());
    for (int step = 0; step < STEPS; step++) {
      var dirty = new ArrayList<Path>();
      for (int i = random.nextInt(4); i >= 0; i--) {
        dirty.addAll(change(random));
      }

      Manifest found = scan.look(Optional.of(dirty), Set.of()).manifest();
      Manifest expected = scan("other", ScanLimits.standard()).scan(Talk.silent()).manifest();
      assertEquals(
          List.of(), expected.differences(found), "seed " + seed + ", step " + step + ": " + dirty);
    }
  }

  /** Changes something; the folders in which a watcher would report that. */
  private List<Path> change(Random random) throws IOException, InterruptedException {
    Path in = anyFolder(random);
    String name = random.nextInt(8) == 0 ? ".gitignore" : "f" + random.nextInt(6);
    switch (random.nextInt(9)) {
      case 0, 1, 2 -> {
        String text =
            name.startsWith(".") ? "f" + random.nextInt(6) + "\n" : "" + random.nextInt(50);
        if (!Files.isDirectory(in.resolve(name))) {
          Files.writeString(in.resolve(name), text);
        }
      }
      case 3 -> Files.createDirectories(in.resolve("d" + random.nextInt(3)));
      case 4 -> {
        if (!in.equals(folder.path())) {
          folder.delete(folder.path().relativize(in).toString());
          return List.of(in, in.getParent());
        }
      }
      case 5 -> {
        Path to = anyFolder(random);
        Path target = to.resolve("d" + random.nextInt(3));
        if (!in.equals(folder.path()) && !to.startsWith(in) && !Files.exists(target)) {
          Files.move(in, target);
          return List.of(in, in.getParent(), to);
        }
      }
      case 6 -> {
        Path file = in.resolve(name);
        if (Files.isRegularFile(file)) {
          Path target = in.resolve("f" + random.nextInt(6));
          if (!Files.isDirectory(target)) {
            Files.move(file, target, StandardCopyOption.REPLACE_EXISTING);
          }
        }
      }
      case 7 -> {
        Path file = in.resolve(name);
        if (Files.isRegularFile(file)) {
          folder.git(base, "add", "-f", folder.path().relativize(file).toString());
        }
      }
      default -> Files.deleteIfExists(in.resolve("f" + random.nextInt(6)));
    }
    return List.of(in);
  }

  private Path anyFolder(Random random) throws IOException {
    try (Stream<Path> all = Files.walk(folder.path())) {
      List<Path> folders =
          all.filter(Files::isDirectory)
              .filter(path -> !path.toString().contains(".git"))
              .sorted()
              .toList();
      return folders.get(random.nextInt(folders.size()));
    }
  }

  @Test
  void looksOnlyAtWhatItIsToldAbout() throws Exception {
    folder.write("a/one", "1").write("b/two", "2");
    TreeScan scan = scan("cache", ScanLimits.standard());
    scan.scan(Talk.silent());
    folder.write("a/one", "11").write("b/two", "22");

    Manifest found = look(scan, folder.path().resolve("a")).manifest();

    Manifest all = scan("other", ScanLimits.standard()).scan(Talk.silent()).manifest();
    assertEquals(List.of("b/two"), all.differences(found));
  }

  @Test
  void leavesAFileThatKeepsChangingAsItWas() throws Exception {
    folder.write("train.py", "1").write("out.log", "line\n");
    TreeScan scan = scan("cache", ScanLimits.standard());
    Manifest before = scan.scan(Talk.silent()).manifest();
    folder.write("train.py", "2").write("out.log", "line\nline\n").write("new.log", "line\n");

    Scan found = scan.look(Optional.of(List.of(folder.path())), Set.of("out.log", "new.log"));

    assertEquals(List.of("train.py"), found.manifest().differences(before));
    assertEquals(Set.of("out.log", "new.log"), found.left().keySet());

    Scan later = look(scan);

    assertEquals(List.of("new.log", "out.log"), later.manifest().differences(found.manifest()));
    assertEquals(Map.of(), later.left());
  }

  @Test
  void leavesOutALargeFileInsteadOfAsking() throws Exception {
    folder.write("train.py", "1");
    TreeScan scan = scan("cache", ScanLimits.standard().askOver(100));
    scan.scan(Talk.silent());
    folder.write("checkpoint", new byte[101]).write("train.py", "2");

    Scan found = look(scan, folder.path());

    assertEquals(Set.of("train.py"), found.manifest().entries().keySet());
    assertTrue(found.left().get("checkpoint").contains("not in git"), found.left().toString());
  }

  @Test
  void leavesAFileThatCannotBeRead() throws Exception {
    folder.write("train.py", "1").write("loop", "2");
    TreeScan scan = scan("cache", ScanLimits.standard());
    scan.scan(Talk.silent());
    folder.write("train.py", "2").write("loop", "3");
    try (var unreadable = new Unreadable(folder.path().resolve("loop"))) {
      if (!unreadable.isEffective()) {
        return; // root reads everything
      }

      Scan found = look(scan, folder.path());

      assertEquals(Set.of("loop"), found.left().keySet());
      assertEquals(2, found.manifest().size());
    }
  }

  /** A file without permissions, until it is closed. */
  private record Unreadable(Path file) implements AutoCloseable {
    Unreadable {
      new WorkFolder(file.getParent());
      try {
        Files.setPosixFilePermissions(file, Set.of());
      } catch (IOException broken) {
        throw new AssertionError(broken);
      }
    }

    boolean isEffective() {
      return !Files.isReadable(file);
    }

    @Override
    public void close() throws IOException {
      Files.setPosixFilePermissions(
          file, java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
    }
  }

  @Test
  void entersFoldersThatAppearAndLeavesThoseThatGo() throws Exception {
    folder.write("a/b/one", "1").write("skipped/two", "2").write(".gpushignore", "skipped\n");
    TreeScan scan = scan("cache", ScanLimits.standard());
    scan.scan(Talk.silent());
    Path root = folder.path();
    assertEquals(Set.of(root, root.resolve("a"), root.resolve("a/b")), entered);

    Files.move(root.resolve("a"), root.resolve("c"));
    folder.write(".gpushignore", "");
    look(scan, root);

    assertEquals(
        Set.of(root, root.resolve("c"), root.resolve("c/b"), root.resolve("skipped")), entered);
  }
}
