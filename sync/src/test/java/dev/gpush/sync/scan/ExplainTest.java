package dev.gpush.sync.scan;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.config.Config;
import dev.gpush.core.config.Configs;
import dev.gpush.core.config.TaskFile;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.session.SendReason;
import dev.gpush.core.session.SendReason.Kind;
import dev.gpush.core.session.SendReason.Verdict;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.sync.FakeTalk;
import dev.gpush.sync.WorkFolder;
import dev.gpush.sync.git.GitPlaces;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Why a path is sent or not: against git check-ignore, against a scan, and case by case. */
@Execution(ExecutionMode.CONCURRENT)
final class ExplainTest {
  private static final int TREES = Integer.getInteger("gpush.trees", 25);
  private static final int MISSING = 30;

  @TempDir private Path base;
  private Path home;
  private WorkFolder work;

  @BeforeEach
  void begin() throws IOException {
    home = Files.createDirectories(base.resolve("home"));
    work = new WorkFolder(Files.createDirectories(base.resolve("work")));
  }

  private static GitPlaces places(Path home) {
    return GitPlaces.of(Map.of("HOME", home.toString(), "GIT_CONFIG_NOSYSTEM", "1"));
  }

  /** Every folder belongs to one workspace. */
  private record OneRoot(Path root) implements Configs {
    @Override
    public Config load(Path folder) {
      return new Config(root, "given", List.of(), List.of(), List.of(), List.of());
    }

    @Override
    public TaskFile task(String file, Path path) {
      throw new IllegalStateException(file);
    }

    @Override
    public List<Template> templates(Path folder) {
      return List.of();
    }
  }

  private static SendReason explain(WorkFolder work, Path home, String path) {
    return new WorkspaceRules(new OneRoot(work.path()), places(home)).explain(work.path(), path);
  }

  private SendReason explain(String path) {
    return explain(work, home, path);
  }

  private void assertVerdict(Verdict verdict, String path) {
    SendReason reason = explain(path);
    assertEquals(verdict, reason.verdict(), reason::toString);
  }

  // ---- against git

  @Test
  @Tag("local")
  void namesTheLineThatGitNamesInGeneratedTrees() throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.out.println("ExplainTest seed " + seed + " (-Dgpush.seed=…)");
    for (int tree = 0; tree < TREES; tree++) {
      var random = new Random(seed + tree);
      Path folder = base.resolve("tree-" + tree);
      var made = new WorkFolder(Files.createDirectories(folder.resolve("work")));
      Path myHome = Files.createDirectories(folder.resolve("home"));
      made.git(myHome, "init", "-q");
      new TreeMaker(random, made, myHome).make();

      var paths = new ArrayList<>(all(made.path()));
      paths.addAll(missing(made.path(), random));
      Map<String, String> expected = checkIgnore(made.path(), myHome, paths);
      for (String path : paths) {
        SendReason reason = explain(made, myHome, path);
        String actual =
            reason.rule().map(rule -> rule.file() + ":" + rule.line()).orElse("no rule");
        String text = "seed " + (seed + tree) + ": " + path + ": " + reason;
        assertEquals(expected.get(path), actual, text);
      }
      saysOfEachFileWhatAScanDoes(made, myHome, "seed " + (seed + tree));
    }
  }

  /** The other half: tracked files are sent, whatever rules say. */
  private void saysOfEachFileWhatAScanDoes(WorkFolder made, Path myHome, String seed)
      throws Exception {
    Path cache = myHome.resolve("hashes");
    Set<String> sent;
    try (Tasks tasks = Tasks.named("explain-test", (_, failure) -> failure.printStackTrace())) {
      var scan =
          new TreeScan(
              made.path(),
              places(myHome),
              ScanLimits.standard(),
              cache,
              new FolderListener() {},
              Clock.system(),
              tasks);
      sent = new TreeSet<>(scan.scan(new FakeTalk()).manifest().entries().keySet());
    }
    for (String path : all(made.path())) {
      if (!Files.isDirectory(made.path().resolve(path), LinkOption.NOFOLLOW_LINKS)) {
        SendReason reason = explain(made, myHome, path);
        assertEquals(sent.contains(path), reason.verdict().isSent(), () -> seed + ": " + reason);
      }
    }
  }

  /** Files, folders and links. */
  private static List<String> all(Path root) throws IOException {
    try (Stream<Path> found = Files.walk(root)) {
      return found
          .map(file -> root.relativize(file).toString())
          .filter(path -> !path.isEmpty() && !path.equals(".git") && !path.startsWith(".git/"))
          .toList();
    }
  }

  /** Paths that are not there, below folders that are or are not. */
  private static List<String> missing(Path root, Random random) {
    var paths = new TreeSet<String>();
    for (int i = 0; i < MISSING; i++) {
      var path = new StringBuilder();
      for (int depth = random.nextInt(4); depth >= 0; depth--) {
        path.append(TreeMaker.NAMES.get(random.nextInt(TreeMaker.NAMES.size())));
        path.append(depth == 0 ? "" : "/");
      }
      if (!Files.exists(root.resolve(path.toString()), LinkOption.NOFOLLOW_LINKS)
          && isBelowFoldersOnly(root, path.toString())) {
        paths.add(path.toString());
      }
    }
    return List.copyOf(paths);
  }

  private static boolean isBelowFoldersOnly(Path root, String path) {
    Path at = root;
    for (Path name : Path.of(path)) {
      at = at.resolve(name);
      if (Files.exists(at, LinkOption.NOFOLLOW_LINKS)
          && !Files.isDirectory(at, LinkOption.NOFOLLOW_LINKS)) {
        return false;
      }
    }
    return true;
  }

  /** By path, the file and the line of git's rule, whether it ignores the path or includes it. */
  private static Map<String, String> checkIgnore(Path root, Path home, List<String> paths)
      throws IOException, InterruptedException {
    Path asked = Files.write(home.resolve("asked"), String.join("\0", paths).getBytes(UTF_8));
    var builder =
        new ProcessBuilder("git", "check-ignore", "-v", "-n", "-z", "--no-index", "--stdin")
            .directory(root.toFile())
            .redirectInput(asked.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().clear();
    builder.environment().put("PATH", System.getenv("PATH"));
    builder.environment().put("HOME", home.toString());
    builder.environment().put("GIT_CONFIG_NOSYSTEM", "1");
    Process git = builder.start();
    String[] words = new String(git.getInputStream().readAllBytes(), UTF_8).split("\0", -1);
    assertTrue(git.waitFor() <= 1, "git check-ignore");
    var lines = new HashMap<String, String>();
    for (int i = 0; i + 3 < words.length; i += 4) {
      lines.put(words[i + 3], words[i].isEmpty() ? "no rule" : words[i] + ":" + words[i + 1]);
    }
    return lines;
  }

  // ---- case by case

  @Test
  void namesTheRuleAndTheFolderThatItIsAbout() throws Exception {
    work.git(home, "init", "-q");
    work.write(".gitignore", "# data\n\n/data/\n*.bin\n!keep.bin\n")
        .write("pkg/.gitignore", "local.py\n")
        .write("data/deep/x.txt", "1")
        .write("pkg/local.py", "1")
        .write("pkg/keep.bin", "1")
        .write("train.py", "1");

    SendReason below = explain("data/deep/x.txt");
    assertEquals(Verdict.IGNORED, below.verdict());
    assertEquals("data", below.at());
    assertEquals("/data/ (.gitignore:3)", below.rule().orElseThrow().text());
    assertEquals(
        "local.py (pkg/.gitignore:1)", explain("pkg/local.py").rule().orElseThrow().text());
    SendReason kept = explain("pkg/keep.bin");
    assertEquals(Verdict.SENT, kept.verdict());
    assertEquals("!keep.bin (.gitignore:5)", kept.rule().orElseThrow().text());
    assertEquals(
        new SendReason("train.py", Kind.FILE, Verdict.SENT, "train.py", Optional.empty(), ""),
        explain("train.py"));
    assertEquals(Kind.FOLDER, explain("pkg").kind());
    assertVerdict(Verdict.IGNORED, "data/");
    assertVerdict(Verdict.SENT, ".");
  }

  @Test
  void gitsOtherFilesCountToo() throws Exception {
    work.git(home, "init", "-q");
    Files.writeString(work.path().resolve(".git/info/exclude"), "# mine\nmine.txt\n");
    Files.writeString(home.resolve(".gitconfig"), "[core]\n\texcludesFile = ~/global\n");
    Files.writeString(home.resolve("global"), "Thumbs.db\n");

    assertEquals(
        "mine.txt (.git/info/exclude:2)", explain("a/mine.txt").rule().orElseThrow().text());
    assertEquals(
        "Thumbs.db (" + home.resolve("global") + ":1)",
        explain("Thumbs.db").rule().orElseThrow().text());
  }

  /** As git sets it on a Mac's disk, where the two names are one file. */
  @Test
  void rulesOfGitIgnoreCaseWhereItsConfigurationSaysSo() throws Exception {
    work.git(home, "init", "-q");
    work.write(".gitignore", "Build/\n*.KEY\nÜ.txt\n").write(".gpushignore", "Own\n");
    work.write("build/a", "1").write("my.key", "1").write("ü.txt", "1").write("own", "1");
    List<String> names = List.of("build/a", "my.key", "ü.txt", "own");
    for (String value : List.of("false", "true")) {
      work.git(home, "config", "core.ignoreCase", value);
      List<String> sent =
          work.git(home, "ls-files", "-z", "--others", "--exclude-standard").stream()
              .filter(names::contains)
              .sorted()
              .toList();

      assertEquals(
          sent,
          names.stream().filter(name -> explain(name).verdict() == Verdict.SENT).sorted().toList());
      assertEquals(value.equals("true") ? 2 : 4, sent.size());
    }
  }

  @Test
  void trackedFilesAreSentAlsoFromIgnoredFolders() throws Exception {
    work.git(home, "init", "-q");
    work.write("data/tracked.txt", "1").write("data/other.txt", "1").write(".gitignore", "data/\n");
    work.git(home, "add", "-f", "data/tracked.txt");

    assertVerdict(Verdict.TRACKED, "data/tracked.txt");
    assertEquals("data", explain("data/tracked.txt").at());
    assertVerdict(Verdict.TRACKED_ONLY, "data");
    SendReason other = explain("data/other.txt");
    assertEquals(Verdict.IGNORED, other.verdict());
    assertEquals("data/ (.gitignore:1)", other.rule().orElseThrow().text());
    work.delete("data/tracked.txt");
    assertEquals(Kind.MISSING, explain("data/tracked.txt").kind());
    assertVerdict(Verdict.TRACKED, "data/tracked.txt");
  }

  @Test
  void gpushignoreComesBeforeNamesThatAreNeverSentAndThoseBeforeGit() {
    work.write(".gpushignore", "!.venv\nlogs/\n").write(".gitignore", "!__pycache__\n");

    assertVerdict(Verdict.NEVER, "pkg/__pycache__/a.pyc");
    assertEquals("pkg/__pycache__", explain("pkg/__pycache__/a.pyc").at());
    assertVerdict(Verdict.SENT, ".venv/bin/python");
    assertEquals("!.venv (.gpushignore:1)", explain(".venv/").rule().orElseThrow().text());
    assertEquals("logs/ (.gpushignore:2)", explain("logs/a").rule().orElseThrow().text());
    assertVerdict(Verdict.NEVER, ".git/config");
    assertVerdict(Verdict.NEVER, ".gpush/x");
    assertVerdict(Verdict.NEVER, "pkg/.DS_Store");
  }

  /** A gateway that is killed while a file comes home leaves it in the workspace. */
  @Test
  void halfAFileThatCameHomeIsNeverSent() {
    work.write("pkg/.a.py.gpush-part", "1")
        .write(".a.py.gpush-old", "1")
        .write("a.gpush-part", "1");

    assertVerdict(Verdict.NEVER, "pkg/.a.py.gpush-part");
    assertVerdict(Verdict.NEVER, ".a.py.gpush-old");
    assertVerdict(Verdict.NEVER, ".a.py.gpush-old2");
    assertVerdict(Verdict.SENT, "a.gpush-part");
    assertVerdict(Verdict.SENT, ".a.py.gpush-older");
  }

  @ParameterizedTest
  @CsvSource({
    "data/tok.json, data/",
    "data/deep/er/tok.json, data/",
    "data/deep/er, data/",
    "data/deep/er/tok.json, /data/*",
    "data/tok.json, *.json",
    "data/a [b]* .json, data/",
    ".venv/lib/x.py, none",
    "data/__pycache__/a.pyc, none",
    "data/deep, deep",
  })
  void whatIsAddedSendsThePathAndNothingElse(String path, String ignored) throws Exception {
    for (String file :
        List.of(".gitignore", ".gpushignore", "data/.gitignore", "data/.gpushignore")) {
      work = new WorkFolder(Files.createDirectories(base.resolve(file.replace('/', '-') + "-of")));
      List<String> names =
          List.of(
              "data/tok.json",
              "data/a [b]* .json",
              "data/a b c.json",
              "data/other.json",
              "data/deep/er/tok.json",
              "data/deep/er/other",
              "data/deep/other.json",
              "data/__pycache__/a.pyc",
              "data/__pycache__/b.pyc",
              ".venv/lib/x.py",
              ".venv/lib/y.py",
              "train.json");
      for (String name : names) {
        work.write(name, "1");
      }
      work.write(file, ignored + "\n");
      SendReason before = explain(path);
      if (before.verdict().isSent()) {
        continue; // The rule means nothing in that folder.
      }
      List<String> sent = names.stream().filter(name -> explain(name).verdict().isSent()).toList();

      SendReason.Added added = before.addition().orElseThrow();
      Path at = work.path().resolve(added.file());
      String old = Files.exists(at) ? Files.readString(at) : "";
      Files.writeString(at, old + String.join("\n", added.lines()) + "\n");

      assertEquals(Verdict.SENT, explain(path).verdict(), () -> file + " with " + added);
      assertEquals(
          sent,
          names.stream()
              .filter(name -> !name.equals(path) && !name.startsWith(path + "/"))
              .filter(name -> explain(name).verdict().isSent())
              .toList(),
          () -> file + " with " + added);
    }
  }

  @Test
  void nothingSendsWhatNoRuleIgnoresOrMayInclude() {
    work.write("a.py", "1").write(".gpush/x", "1");

    assertEquals(Optional.empty(), explain("a.py").addition());
    assertEquals(Optional.empty(), explain(".gpush/x").addition());
    assertEquals(Optional.empty(), explain(".git/config").addition());
  }

  @Test
  void whatIsNotThereCountsAsAFileUnlessItEndsInASlash() {
    work.write(".gitignore", "out/\n*.log\n");

    assertVerdict(Verdict.SENT, "out");
    assertVerdict(Verdict.IGNORED, "out/");
    assertVerdict(Verdict.IGNORED, "out/a/b");
    assertVerdict(Verdict.IGNORED, "nowhere/x.log");
    assertEquals(Kind.MISSING, explain("nowhere/x.log").kind());
    assertVerdict(Verdict.SENT, "nowhere/x.py");
  }

  @Test
  void linksAreSentAsTheyAreAndNotFollowed() throws Exception {
    Path elsewhere = Files.createDirectories(base.resolve("elsewhere"));
    work.write("runs/7/log", "1")
        .link("latest", "runs/7")
        .link("out", elsewhere.toString())
        .link("runs/up", "../../elsewhere")
        .write("file", "1");

    assertVerdict(Verdict.SENT, "latest");
    assertEquals("runs/7", explain("latest").detail());
    assertVerdict(Verdict.BEHIND_LINK, "latest/log");
    assertEquals("latest", explain("latest/log").at());
    assertVerdict(Verdict.LEADS_OUT, "out");
    assertVerdict(Verdict.LEADS_OUT, "runs/up");
    assertVerdict(Verdict.BELOW_FILE, "file/x");
  }

  @Test
  void pathsMayBeAbsoluteReachedThroughALinkOrOutside() throws Exception {
    work.write("pkg/a.py", "1");
    Path linked = Files.createSymbolicLink(base.resolve("linked"), work.path());

    assertEquals("pkg/a.py", explain(work.path().resolve("pkg/a.py").toString()).path());
    assertEquals("pkg/a.py", explain(linked.resolve("pkg/a.py").toString()).path());
    assertEquals("pkg/a.py", explain("pkg/../pkg/a.py").path());
    assertVerdict(Verdict.OUTSIDE, "../home");
    assertVerdict(Verdict.OUTSIDE, "/nowhere/at/all");
    assertVerdict(Verdict.OUTSIDE, "/");
    assertThrows(GpushException.class, () -> explain("a\0b"));
  }

  @Test
  void aLargeFileIsAskedAboutUnlessGitTracksIt() throws Exception {
    work.git(home, "init", "-q");
    try (var large = new RandomAccessFile(work.path().resolve("model.bin").toFile(), "rw")) {
      large.setLength(50_000_001);
    }
    assertVerdict(Verdict.LARGE, "model.bin");
    assertEquals("over 50 MB and not in git", explain("model.bin").detail());

    work.git(home, "add", "model.bin");

    assertVerdict(Verdict.TRACKED, "model.bin");
  }

  @Test
  void aPipeIsNoFile() throws Exception {
    Path pipe = work.path().resolve("pipe");
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());

    assertVerdict(Verdict.NO_REGULAR_FILE, "pipe");
  }
}
