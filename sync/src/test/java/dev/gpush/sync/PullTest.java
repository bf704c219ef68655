package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.json.Json;
import dev.gpush.testkit.fake.Interpreters;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a careless or hostile node may not do to the laptop that pulls from it. */
final class PullTest extends SyncFixture {
  private static final String HOOK = ".git/hooks/post-checkout";

  private final Deque<Process> disks = new ArrayDeque<>();

  @AfterEach
  void unmount() throws IOException, InterruptedException {
    for (Process disk : disks) {
      // Lazy, because a process of another test that looks at it now would keep it mounted.
      new ProcessBuilder("umount", "--lazy", laptop.path().toString())
          .inheritIO()
          .start()
          .waitFor();
      disk.destroy();
      disk.waitFor();
    }
  }

  private WorkFolder node() throws InterruptedException {
    nodes(1);
    laptop.write("train.py", "1");
    push();
    laptop.write(HOOK, "mine");
    return nodes.getFirst().folder();
  }

  private void pull(String path) throws InterruptedException {
    sync.pull(nodes.getFirst(), path, laptop.path().resolve(path), talk);
  }

  private String refused(String path) {
    var failure = assertInstanceOf(SyncFailure.NotPulled.class, failure(() -> pull(path)));
    assertEquals(0, failure.node());
    return failure.why();
  }

  private void assertHookIsMine() throws IOException {
    assertEquals("mine", laptop.read(HOOK));
    try (var files = Files.walk(laptop.path().resolve(".git"))) {
      assertEquals(1, files.filter(Files::isRegularFile).count());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {".GIT", ".Git", "git~1", ".git.", ".git ", ".g\u200cit", ".git::$DATA"})
  void nothingIsWrittenUnderANameThatSomeDiskTakesForGit(String name) throws Exception {
    WorkFolder there = node();
    there.write("d/" + name + "/hooks/post-checkout", "evil").write("d/a", "1");
    there.write(name + "/hooks/post-checkout", "evil");

    String why = "'" + name + "' is refused: some disks treat it as .git, and files there may";
    assertTrue(refused("d").startsWith(why));
    assertTrue(refused(name).startsWith(why));
    assertTrue(refused("d/" + name + "/hooks/post-checkout").startsWith(why));

    assertHookIsMine();
    assertFalse(WorkFolder.exists(laptop.path().resolve(name)));
    assertFalse(WorkFolder.exists(laptop.path().resolve("d")));
  }

  @Test
  void theGitFolderOfANodeIsLeftOut() throws Exception {
    WorkFolder there = node();
    there.write("d/.git/hooks/post-checkout", "evil").write("d/a", "1");

    pull("d");

    assertEquals("1", laptop.read("d/a"));
    assertFalse(WorkFolder.exists(laptop.path().resolve("d/.git")));
  }

  @Test
  void aFolderIsPulledInAFewRoundTrips() throws Exception {
    WorkFolder there = node();
    for (int i = 0; i < 100; i++) {
      there.write("d/" + i % 10 + "/f" + i, "content " + i);
    }
    int before = nodes.getFirst().flights.get();

    pull("d");

    int flights = nodes.getFirst().flights.get() - before;
    assertTrue(flights <= 15, () -> flights + " flights");
    assertEquals("content 57", laptop.read("d/7/f57"));
  }

  @Test
  void noLinkLeadsIntoGit() throws Exception {
    WorkFolder there = node();
    laptop.link("hooks", ".git/hooks");
    there.write("hooks/post-checkout", "evil");
    there.link("d/git", "../.git/config").link("d/modules", "../.GIT/modules/x");

    assertEquals("hooks here is a link that leads into .git", refused("hooks"));
    pull("d");

    assertTrue(talk.said.contains("not pulled, because it points into .git: d/git"));
    assertTrue(talk.said.contains("not pulled, because it points into .git: d/modules"));
    assertFalse(WorkFolder.exists(laptop.path().resolve("d/git")));
    assertHookIsMine();
  }

  /** A link and a folder cannot have one name; a node that says so wants to write through it. */
  @Test
  void aNameThatIsTwoThingsIsRefused() throws Exception {
    node();
    nodes.getFirst().lies =
        Json.object(
            "d",
            List.of(Json.object("kind", "folder", "names", List.of("x", "x"), "all", true)),
            "d/x",
            List.of(
                Json.object("kind", "link", "target", "../.git"),
                Json.object("kind", "folder", "names", List.of("hooks"), "all", true)),
            "d/x/hooks",
            List.of(Json.object("kind", "link", "target", "y")));
    restartGateway();

    assertEquals("'x' and 'x' are the same name on some disks; pull them one by one", refused("d"));

    assertHookIsMine();
    assertFalse(WorkFolder.exists(laptop.path().resolve("d")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"../x", "", "a\0b", "\ud800", "..", "x/../../y"})
  void whatIsNoNameIsRefused(String name) throws Exception {
    node();
    nodes.getFirst().lies =
        Json.object(
            "d", List.of(Json.object("kind", "folder", "names", List.of(name), "all", true)));
    restartGateway();

    assertTrue(refused("d").contains("' is refused: "));
  }

  /** {@code ..} behind the name of a link goes up from where that link leads. */
  @Test
  void noLinkLeadsOutOfTheWorkspace() throws Exception {
    WorkFolder there = node();
    laptop.link("deep/er", "..");
    there.write("deep/er/a", "1").link("deep/er/up", "../x").link("d/here", ".");
    there.link("d/far", "here/../../x").link("d/root", "/nowhere").link("d/fine", "../train.py");

    pull("deep/er");
    pull("d");

    assertEquals("1", laptop.read("a"));
    assertFalse(WorkFolder.exists(laptop.path().resolve("up")));
    assertEquals(
        List.of("d/far", "d/root", "deep/er/up"),
        talk.said.stream()
            .filter(line -> line.startsWith("not pulled, because it points out of the workspace: "))
            .map(line -> line.replaceFirst(".*: ", ""))
            .sorted()
            .toList());
    assertEquals("1", laptop.read("d/fine"));
  }

  @Test
  void aLinkThatGitFollowsIsNotMade() throws Exception {
    WorkFolder there = node();
    there.link("d/.gitmodules", "x").link("d/.GITMODULES", "y");

    assertEquals(
        "'.GITMODULES' and '.gitmodules' are the same name on some disks; pull them one by one",
        refused("d").replace("'.gitmodules' and '.GITMODULES'", "'.GITMODULES' and '.gitmodules'"));
    pull("d/.gitmodules");

    assertTrue(talk.said.contains("not pulled, because git would follow it: d/.gitmodules"));
    assertFalse(WorkFolder.exists(laptop.path().resolve("d/.gitmodules")));
  }

  @Test
  void namesThatSomeDiskTakesForOneAreNotPulledTogether() throws Exception {
    WorkFolder there = node();
    there.write("d/Makefile", "1").write("d/makefile", "2").write("d/other", "3");

    String why = refused("d");

    assertTrue(why.endsWith("are the same name on some disks; pull them one by one"), why);
    assertFalse(WorkFolder.exists(laptop.path().resolve("d")));
    pull("d/Makefile");
    assertEquals("1", laptop.read("d/Makefile"));
  }

  @Test
  void aFolderThatIsNestedTooDeepIsDataThatCpMoves() throws Exception {
    WorkFolder there = node();
    there.write("d" + "/d".repeat(64) + "/a", "1");

    assertEquals(
        new SyncFailure.TooLarge(
            0,
            "d",
            there.path().resolve("d").toString(),
            "folders in it are nested more than 64 deep"),
        failure(() -> pull("d")));
  }

  @Test
  void whatIsInTheWayIsSaid() throws Exception {
    WorkFolder there = node();
    there.write("a/b", "1").write("c/d", "1").write("..e", "2");
    laptop.write("a", "a file").link("c", "nowhere");

    assertEquals("a is not a folder here", refused("a"));
    assertEquals("c here is a dangling link", refused("c"));
    pull("..e");
    assertEquals("2", laptop.read("..e"));
  }

  // ---- a disk that ignores the case of names

  /** The laptop's folder is on such a disk from now on. */
  private void fold() throws IOException, InterruptedException {
    assumeTrue(System.getProperty("user.name").equals("root"), "mounting needs root");
    assumeTrue(Files.exists(Path.of("/dev/fuse")), "there is no /dev/fuse");
    Path program = Files.createTempFile(base, "folding", ".py");
    try (InputStream in = PullTest.class.getResourceAsStream("folding_disk.py")) {
      Files.write(program, in.readAllBytes());
    }
    Path behind = Files.createDirectories(base.resolve("behind"));
    Process disk =
        new ProcessBuilder(
                Interpreters.first(),
                program.toString(),
                laptop.path().toString(),
                behind.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    BufferedReader out = disk.inputReader(StandardCharsets.UTF_8);
    assumeTrue("ready".equals(out.readLine()), "FUSE cannot be mounted here");
    disks.push(disk);
  }

  @Test
  void aFileUnderAnotherNameOnThisDiskIsLeftAlone() throws Exception {
    fold();
    WorkFolder there = node();
    laptop.write("README", "mine").write("src/Main.java", "mine");
    there.write("readme", "theirs").write("SRC/x", "1").write("src/main.java", "theirs");
    there.write("src/new", "2");
    assertEquals("mine", laptop.read("readme"), "the disk folds");

    assertEquals("'readme' and 'README' here are one name on this disk", refused("readme"));
    assertEquals("'SRC' and 'src' here are one name on this disk", refused("SRC/x"));
    assertEquals(
        "'main.java' and 'Main.java' here are one name on this disk", refused("src/main.java"));
    talk.answer = FakeTalk.Answer.YES;
    pull("src/new");

    assertEquals(
        Map.of("README", "mine", "src/Main.java", "mine", "src/new", "2", "train.py", "1"),
        contents());
  }

  @Test
  void onADiskThatFoldsNothingGetsIntoGit() throws Exception {
    fold();
    WorkFolder there = node();
    there.write(".GIT/hooks/post-checkout", "evil").write("d/.Git/config", "evil");

    refused(".GIT");
    refused(".GIT/hooks/post-checkout");
    refused("d");

    assertHookIsMine();
  }

  private Map<String, String> contents() throws IOException {
    var found = new java.util.TreeMap<String, String>();
    for (String name : laptop.tree().keySet()) {
      if (Files.isRegularFile(laptop.path().resolve(name), LinkOption.NOFOLLOW_LINKS)) {
        found.put(name, laptop.read(name));
      }
    }
    return found;
  }

  private void saveThereInTheMomentOfACommit() throws Exception {
    nodes(2);
    laptop.write("a", "1");
    push();
    laptop.write("a", "here");
    FakeNode first = nodes.getFirst();
    first.beforeCommit = () -> first.folder().write("a", "there");
    assertEquals(List.of("a CHANGED_BOTH 0"), held());
    first.beforeCommit = () -> {};
  }

  private void assertOnlyVersionIsKept() throws IOException {
    assertEquals("there", laptop.read("a"));
    try (var kept = Files.walk(base.resolve("trash"))) {
      Path file = kept.filter(Files::isRegularFile).findFirst().orElseThrow();
      assertEquals("here", Files.readString(file));
    }
  }

  /** The manifest of the node has the version that it never had. */
  @Test
  void whatTheNodeDidNotTakeIsReplacedOnlyAfterAQuestion() throws Exception {
    saveThereInTheMomentOfACommit();
    assertInstanceOf(UsageFailure.NobodyToAsk.class, failure(() -> pull("a")));
    assertEquals("here", laptop.read("a"));
    talk.answer = FakeTalk.Answer.YES;

    pull("a");

    assertOnlyVersionIsKept();
    assertEquals("Node 0 never had a as here. Replace it?", talk.asked.getLast());
  }

  @Test
  void inAnotherGatewayItGoesToTheTrash() throws Exception {
    saveThereInTheMomentOfACommit();
    restartGateway();

    pull("a");

    assertOnlyVersionIsKept();
  }
}
