package dev.gpush.sync.scan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.sync.FakeTalk;
import dev.gpush.sync.WorkFolder;
import dev.gpush.sync.git.GitPlaces;
import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Hashes;
import dev.gpush.sync.tree.Manifest;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What is sent, against git itself and against the rules of product.md. */
@Execution(ExecutionMode.CONCURRENT)
class ScanTest {
  private static final int TREES = Integer.getInteger("gpush.trees", 40);
  private static final int EXPLAINED = 10;

  @TempDir private Path base;
  private Path home;
  private WorkFolder folder;
  private Tasks tasks;
  private final FakeTalk talk = new FakeTalk();

  @BeforeEach
  void start() throws IOException {
    home = Files.createDirectories(base.resolve("home"));
    folder = new WorkFolder(Files.createDirectories(base.resolve("work")));
    tasks = Tasks.named("scan-test", (thread, failure) -> failure.printStackTrace());
  }

  @AfterEach
  void stop() {
    tasks.close();
  }

  private TreeScan scan(Path root, ScanLimits limits) {
    var places = GitPlaces.of(Map.of("HOME", home.toString(), "GIT_CONFIG_NOSYSTEM", "1"));
    return new TreeScan(
        root,
        places,
        limits,
        base.resolve("cache"),
        new FolderListener() {},
        Clock.system(),
        tasks);
  }

  private TreeScan scan() {
    return scan(folder.path(), ScanLimits.standard());
  }

  private Set<String> sent(TreeScan scan) throws InterruptedException {
    return new TreeSet<>(scan.scan(talk).manifest().entries().keySet());
  }

  // ---- against git

  @Test
  void sendsExactlyWhatGitWouldSeeInGeneratedTrees() throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.out.println("ScanTest seed " + seed + " (-Dgpush.seed=…)");
    for (int tree = 0; tree < TREES; tree++) {
      var random = new Random(seed + tree);
      var work =
          new WorkFolder(Files.createDirectories(base.resolve("tree-" + tree).resolve("work")));
      Path myHome = Files.createDirectories(base.resolve("tree-" + tree).resolve("home"));
      work.git(myHome, "init", "-q");
      new TreeMaker(random, work, myHome).make();

      var expected = new TreeSet<String>();
      for (String path :
          work.git(myHome, "ls-files", "-z", "--cached", "--others", "--exclude-standard")) {
        if (Files.exists(work.path().resolve(path), LinkOption.NOFOLLOW_LINKS)) {
          expected.add(path);
        }
      }
      var places = GitPlaces.of(Map.of("HOME", myHome.toString(), "GIT_CONFIG_NOSYSTEM", "1"));
      var scan =
          new TreeScan(
              work.path(),
              places,
              ScanLimits.standard(),
              base.resolve("cache-" + tree),
              new FolderListener() {},
              Clock.system(),
              tasks);
      Set<String> actual = sent(scan);

      if (!actual.equals(expected)) {
        var missing = new TreeSet<>(expected);
        missing.removeAll(actual);
        var extra = new TreeSet<>(actual);
        extra.removeAll(expected);
        throw new AssertionError(
            "seed "
                + (seed + tree)
                + "\nmissing "
                + missing
                + "\nextra "
                + extra
                + "\n"
                + rules(work, myHome));
      }
      explainsWhatItLeavesOut(work, myHome, scan, actual, seed + tree);
    }
  }

  private static void explainsWhatItLeavesOut(
      WorkFolder work, Path home, TreeScan scan, Set<String> sent, long seed) throws Exception {
    for (String path : work.tree().keySet().stream().limit(EXPLAINED).toList()) {
      Optional<String> why = scan.whyIgnored(path);
      assertEquals(
          !sent.contains(path), why.isPresent(), () -> "seed " + seed + ": " + path + " " + why);
    }
  }

  private static String rules(WorkFolder work, Path home) throws IOException {
    var text = new StringBuilder();
    for (String path : work.tree().keySet()) {
      if (path.endsWith(".gitignore")) {
        text.append("--- ").append(path).append('\n').append(work.read(path));
      }
    }
    text.append("--- exclude\n").append(Files.readString(work.path().resolve(".git/info/exclude")));
    Path global = home.resolve(".config/git/ignore");
    if (Files.exists(global)) {
      text.append("--- global\n").append(Files.readString(global));
    }
    return text.toString();
  }

  @Test
  void readsEveryFormatOfTheIndex() throws Exception {
    for (int i = 0; i < 300; i++) {
      folder.write("d" + i % 7 + "/some/long/prefix/file" + i, "x");
    }
    folder.write(".gitignore", "*\n");
    for (String version : List.of("2", "3", "4")) {
      folder.git(home, "init", "-q");
      folder.git(home, "add", "-f", ".");
      folder.git(home, "update-index", "--index-version", version);
      assertEquals(301, sent(scan()).size(), "version " + version);
      folder.delete(".git");
    }
    folder.git(home, "init", "-q");
    folder.git(home, "add", "-f", "d1");
    folder.git(home, "update-index", "--split-index");
    folder.git(home, "add", "-f", "d2");
    assertEquals(86, sent(scan()).size());
    assertEquals(
        Set.of("d1", "d2"),
        new TreeSet<>(sent(scan()).stream().map(path -> path.substring(0, 2)).toList()));
  }

  @Test
  void knowsWorkTreesSubmodulesAndRepositoriesInside() throws Exception {
    var library = new WorkFolder(Files.createDirectories(base.resolve("library")));
    library.git(home, "init", "-q");
    library.write("code.py", "1").write(".gitignore", "*.o\n").write("kept.o", "1");
    library.git(home, "add", "-f", ".");
    library.git(home, "commit", "-qm", "1");
    var main = new WorkFolder(Files.createDirectories(base.resolve("main")));
    main.git(home, "init", "-q");
    main.write(".gitignore", "third/\nnested/skipped\n*.tmp\n").write("main.py", "1");
    main.git(home, "submodule", "add", "-q", "-f", library.path().toString(), "third/library");
    main.git(home, "add", ".");
    main.git(home, "commit", "-qm", "1");
    main.git(home, "worktree", "add", "-q", base.resolve("tree").toString());
    main.write("third/library/new.o", "1")
        .write("third/library/new.tmp", "1")
        .write("third/other", "1");
    main.write("nested/skipped", "1").write("nested/new.tmp", "1");
    main.git(home, "init", "-q", "nested");

    assertEquals(
        Set.of(
            ".gitignore",
            ".gitmodules",
            "main.py",
            "nested/new.tmp",
            "nested/skipped",
            "third/library/.gitignore",
            "third/library/code.py",
            "third/library/kept.o",
            "third/library/new.tmp"),
        sent(scan(main.path(), ScanLimits.standard())));
    assertEquals(
        Set.of(".gitignore", ".gitmodules", "main.py"),
        sent(scan(base.resolve("tree"), ScanLimits.standard())));
  }

  @Test
  void aFolderOfARepositoryFollowsTheRulesAboveIt() throws Exception {
    folder.git(home, "init", "-q");
    folder.write(".gitignore", "*.log\n/sub/only\n").write("sub/.gitignore", "!keep.log\n");
    folder
        .write("sub/a.log", "")
        .write("sub/keep.log", "")
        .write("sub/only", "")
        .write("sub/a.py", "");
    assertEquals(
        Set.of(".gitignore", "keep.log", "a.py"),
        sent(scan(folder.path().resolve("sub"), ScanLimits.standard())));
  }

  @Test
  void followsIncludesAndTheRepositorysOwnSetting() throws Exception {
    new WorkFolder(home)
        .write(".gitconfig", "[include]\n\tpath = more\n[includeIf \"gitdir:x\"]\n\tpath = y\n")
        .write("more", "[core]\n\texcludesFile = ~/ignored\n")
        .write("ignored", "*.a\n");
    folder.git(home, "init", "-q");
    folder.write("x.a", "").write("x.b", "");
    assertEquals(Set.of("x.b"), sent(scan()));
    folder.write("own", "*.b\nown\n");
    folder.git(home, "config", "core.excludesFile", folder.path().resolve("own").toString());
    assertEquals(Set.of("x.a"), sent(scan()));
  }

  @Test
  void aRepositoryThatIgnoresTheWorkspaceIsNotItsOwn() throws Exception {
    folder.git(home, "init", "-q");
    folder
        .write(".gitignore", "*\n")
        .write("project/a.py", "")
        .write("project/.gitignore", "b\n")
        .write("project/b", "");
    assertEquals(
        Set.of("a.py", ".gitignore"),
        sent(scan(folder.path().resolve("project"), ScanLimits.standard())));
  }

  // ---- our own rules

  @Test
  void gpushignoreDecidesFirstAndOnlyFewNamesAreLeftOutByItself() throws Exception {
    folder
        .write(".gitignore", "data/\n*.bin\n")
        .write(".gpushignore", "!data/\nbig/\n!node_modules/\n");
    for (String path :
        List.of(
            "data/x",
            "data/y.bin",
            "big/z",
            "a.bin",
            "node_modules/m.js",
            "__pycache__/c",
            ".venv/v",
            "sub/.gpush/g",
            "runs/r",
            "outputs/o",
            ".git/config")) {
      folder.write(path, path);
    }
    TreeScan scan = scan();

    assertEquals(
        Set.of(".gitignore", ".gpushignore", "data/x", "node_modules/m.js", "runs/r", "outputs/o"),
        sent(scan));
    assertEquals(Optional.of("*.bin (.gitignore:2)"), scan.whyIgnored("data/y.bin"));
    assertEquals(Optional.of("big/ (.gpushignore:2)"), scan.whyIgnored("big/z"));
    assertEquals(Optional.of("big/ (.gpushignore:2)"), scan.whyIgnored("big/not/there"));
    assertEquals(Optional.of(".venv (never sent)"), scan.whyIgnored(".venv/v"));
    assertEquals(Optional.empty(), scan.whyIgnored("runs/r"));
    assertEquals(Optional.empty(), scan.whyIgnored("not/there"));
  }

  @Test
  void trackedFilesGoWhateverTheRulesSay() throws Exception {
    folder.git(home, "init", "-q");
    folder.write(".gpushignore", "*\n").write(".gitignore", "*\n");
    folder
        .write("node_modules/tracked/a.js", "")
        .write("node_modules/tracked/b.js", "")
        .write("x", "");
    folder.git(home, "add", "-f", "node_modules/tracked/a.js");
    assertEquals(Set.of("node_modules/tracked/a.js"), sent(scan()));
  }

  @Test
  void linksThatLeadOutAndWhatIsNoFileAreNamedOnceAndSkipped() throws Exception {
    folder.write("d/file", "1");
    folder.link("d/good", "../d/file");
    folder.link("d/dangling", "nothing");
    folder.link("d/up", "../../elsewhere");
    folder.link("absolute", "/nowhere");
    assertEquals(
        0,
        new ProcessBuilder("mkfifo", folder.path().resolve("pipe").toString()).start().waitFor());
    TreeScan scan = scan();

    assertEquals(Set.of("d/file", "d/good", "d/dangling"), sent(scan));
    sent(scan);

    assertEquals(
        List.of(
            "not sent, because they point out of the workspace: absolute, d/up",
            "not sent, because they are not regular files: pipe"),
        talk.said);
  }

  @Test
  void namesArePassedOnAsTheyAreAndOthersThanUtf8LeftOut() throws Exception {
    for (String name :
        List.of(
            "ünï/日本語",
            "new\nline",
            "tab\t",
            " space ",
            "quote\"'",
            "back\\slash",
            "%41",
            "\uFFFD")) {
      folder.write(name, name);
    }
    assertEquals(8, sent(scan()).size());
    assertTrue(sent(scan()).contains("new\nline"));

    String script = "printf x > \"$(printf 'bad\\377name')\"";
    assertEquals(
        0,
        new ProcessBuilder("sh", "-c", script).directory(folder.path().toFile()).start().waitFor());

    assertEquals(8, sent(scan()).size());
    assertEquals(
        List.of("its name is not UTF-8 or too long"),
        List.copyOf(scan().scan(talk).left().values()));
  }

  @Test
  void saysHowManyFilesAreReadBeforeTheFirstIs() throws Exception {
    folder.write("a", "1");
    sent(scan());
    assertEquals(List.of("0 of 1 files read", "1 of 1 files read"), talk.shown);
  }

  // ---- asking

  @Test
  void homeIsAskedForOnce() throws Exception {
    new WorkFolder(home).write("a", "");
    var failed = assertThrows(GpushException.class, () -> sent(scan(home, ScanLimits.standard())));
    assertEquals(
        new SyncFailure.TooMuch(
            home.toString(), "it is your home folder", 0, 0, "cd into the folder of a project"),
        failed.failure());
    talk.answer = FakeTalk.Answer.YES;
    sent(scan(home, ScanLimits.standard()));
    talk.answer = FakeTalk.Answer.NOBODY;
    assertEquals(Set.of("a"), sent(scan(home, ScanLimits.standard())));
  }

  @Test
  void manyFilesManyBytesAndLargeUntrackedFilesAreAskedFor() throws Exception {
    folder.git(home, "init", "-q");
    folder.write("tracked", new byte[3000]);
    folder.git(home, "add", "tracked");
    var limits = new ScanLimits(3, 5000, 1000);
    sent(scan(folder.path(), limits));
    assertEquals(List.of(), talk.asked);

    folder.write("large", new byte[1500]);
    assertInstanceOf(
        SyncFailure.TooMuch.class,
        assertThrows(GpushException.class, () -> sent(scan(folder.path(), limits))).failure());
    talk.answer = FakeTalk.Answer.YES;
    sent(scan(folder.path(), limits));
    assertEquals(2, talk.asked.size());
    sent(scan(folder.path(), limits));
    assertEquals(2, talk.asked.size());

    folder.write("b", "").write("c", "");
    talk.answer = FakeTalk.Answer.NO;
    assertThrows(GpushException.class, () -> sent(scan(folder.path(), limits)));
    talk.answer = FakeTalk.Answer.YES;
    sent(scan(folder.path(), limits));
    sent(scan(folder.path(), limits));
    assertEquals(4, talk.asked.size());
  }

  @Test
  void whatALargeFileIsDeclinedWithIsNotAskedAgain() throws Exception {
    folder.write("logs/b [1].tar", new byte[1500]).write("logs/b 1.tar", "small");
    talk.answer = FakeTalk.Answer.NO;
    var limits = new ScanLimits(9, 5000, 1000);

    var declined =
        assertInstanceOf(
            UsageFailure.Declined.class,
            assertThrows(GpushException.class, () -> sent(scan(folder.path(), limits))).failure());
    var shell = new ProcessBuilder("bash", "-c", declined.remedy()).inheritIO().start();
    assertEquals(0, shell.waitFor());

    assertEquals(Set.of(".gpushignore", "logs/b 1.tar"), sent(scan(folder.path(), limits)));
    assertEquals(1, talk.asked.size());
  }

  // ---- the cache

  /** As on a full disk. */
  @Test
  void hashesThatCannotBeKeptStopNothing() throws Exception {
    Files.createDirectories(base.resolve("cache").resolve("in the way"));
    folder.write("a", "1");

    assertEquals(Set.of("a"), sent(scan()));
  }

  @Test
  void everyChangeShowsAlsoThroughTheCache() throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    var random = new Random(seed);
    for (int i = 0; i < 40; i++) {
      folder.write("f" + i, "content " + i);
    }
    TreeScan scan = scan();
    scan.scan(talk);
    for (int round = 0; round < 30; round++) {
      String name = "f" + random.nextInt(40);
      // Same size, same moment, same inode: only the racy-clean rule sees it.
      try (var file = new RandomAccessFile(folder.path().resolve(name).toFile(), "rw")) {
        file.write('A' + random.nextInt(26));
      }
      Entry.File entry = (Entry.File) scan.scan(talk).manifest().get(name).orElseThrow();
      assertEquals(
          Hashes.of(Files.readAllBytes(folder.path().resolve(name))),
          entry.hash(),
          "seed " + seed + " round " + round);
    }
    assertEquals(scan.scan(talk).manifest(), scan().scan(talk).manifest());
  }

  @Test
  void aBrokenCacheCostsOnlyTime() throws Exception {
    folder.write("a", "1");
    Manifest manifest = scan().scan(talk).manifest();
    Files.write(base.resolve("cache"), new byte[] {1, 2, 3});
    assertEquals(manifest, scan().scan(talk).manifest());
    assertFalse(Files.list(base).anyMatch(path -> path.toString().endsWith(".new")));
  }

  @Test
  void modesAndLinksAreInTheManifest() throws Exception {
    folder.write("run.sh", "x");
    folder.executable("run.sh", true);
    folder.link("l", "run.sh");
    Manifest manifest = scan().scan(talk).manifest();
    assertEquals(
        new Entry.File(1, true, Hashes.of(new byte[] {'x'})), manifest.get("run.sh").orElseThrow());
    assertEquals(new Entry.Link("run.sh"), manifest.get("l").orElseThrow());
    folder.executable("run.sh", false);
    assertEquals(
        new Entry.File(1, false, Hashes.of(new byte[] {'x'})),
        scan().scan(talk).manifest().get("run.sh").orElseThrow());
  }

  @Test
  void aFileThatCannotBeReadIsNamed() throws Exception {
    folder.write("d/secret", "1");
    Files.setPosixFilePermissions(folder.path().resolve("d/secret"), Set.of());

    assertEquals(
        List.of(new SyncFailure.Unreadable("d/secret", "permission denied").toString()),
        scannedByOneWhoMayNotReadAll());
  }

  @Test
  void aFolderThatCannotBeReadIsLeftOutUntilItCan() throws Exception {
    folder.write("train.py", "1").write("d/secret/key", "1").write("d/more", "1");
    Files.setPosixFilePermissions(folder.path().resolve("d/secret"), Set.of());

    assertEquals(
        List.of(
            "[d/more, train.py] without {d/secret=this folder cannot be read}",
            "[d/more, d/secret/key, train.py] without {}",
            "[d/more, d/secret/key, train.py] without {d/secret=this folder cannot be read}",
            "[d/more, d/secret/key, train.py] without {d/secret=this folder cannot be read}",
            "[d/more, train.py] without {}"),
        scannedByOneWhoMayNotReadAll("d/secret"),
        "what was sent of it must not look deleted");
  }

  @Test
  void aFolderThatWasSentAndCannotBeReadStopsAnotherGateway() throws Exception {
    folder.write("train.py", "1").write("d/secret/key", "1");
    scan().scan(talk);
    Files.setPosixFilePermissions(folder.path().resolve("d/secret"), Set.of());

    var closed = new SyncFailure.Unreadable("d/secret", "it cannot be read, and was sent before");
    assertEquals(List.of(closed.toString()), scannedByOneWhoMayNotReadAll());
  }

  @Test
  void aDiskOfAnotherUserIsLeftOutAndNothingElse() throws Exception {
    assertIsLeftOut("1");
  }

  @Test
  void soIsADiskThatDoesNotAnswer() throws Exception {
    assertIsLeftOut("0");
  }

  private void assertIsLeftOut(String user) throws Exception {
    folder.write("train.py", "1").write("data/x", "1");

    assertEquals(
        List.of("[train.py] without {data=this folder cannot be read}"), scanned(mounted(user)));
    folder.write(".gitignore", "data/");
    assertEquals(List.of("[.gitignore, train.py] without {}"), scanned(mounted(user)));
  }

  /** On {@code data} a disk of this user is mounted; root's does not answer. */
  private List<String> mounted(String user) throws Exception {
    assumeTrue(System.getProperty("user.name").equals("root"), "only root can mount");
    String mount =
        """
        import ctypes, os, sys
        fuse = os.open("/dev/fuse", os.O_RDWR)
        options = "fd=%d,rootmode=40000,user_id=%s,group_id=0" % (fuse, sys.argv[2])
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"test", sys.argv[1].encode(), b"fuse", 0, options.encode()):
            sys.exit("mount: errno %d" % ctypes.get_errno())
        os.set_inheritable(fuse, sys.argv[2] != "0")
        os.execv(sys.argv[3], sys.argv[3:])
        """;
    String data = folder.path().resolve("data").toString();
    var by = List.of("unshare", "--mount", "python3", "-c", mount, data, user);
    var trial = new ArrayList<>(by);
    trial.add("/bin/true");
    assumeTrue(new ProcessBuilder(trial).start().waitFor() == 0, "FUSE is missing here");
    return by;
  }

  private List<String> scannedByOneWhoMayNotReadAll(String... more) throws Exception {
    return scanned(asOneWhoMayNotReadAll(), more);
  }

  /**
   * What {@link ScanProcess} prints.
   *
   * @param by what starts it
   */
  private List<String> scanned(List<String> by, String... more) throws Exception {
    var command = new ArrayList<>(by);
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            ScanProcess.class.getName(),
            base.toString()));
    command.addAll(List.of(more));
    Process scan =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String said = new String(scan.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, scan.waitFor());
    return said.lines().toList();
  }

  /** Root reads every file, unless a process of its own gives up the two rights to do so. */
  private static List<String> asOneWhoMayNotReadAll() {
    if (!System.getProperty("user.name").equals("root")) {
      return List.of();
    }
    Path setpriv = Path.of("/usr/bin/setpriv");
    assumeTrue(
        Files.isExecutable(setpriv), "root reads every file, and " + setpriv + " is missing");
    String rights = "-dac_override,-dac_read_search";
    return List.of(setpriv.toString(), "--bounding-set=" + rights, "--inh-caps=" + rights);
  }
}
