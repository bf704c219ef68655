package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.session.Sessions;
import dev.gpush.core.talk.Talk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The repository on node 0 follows the one here, and commits made there come home; real agents. */
@Execution(ExecutionMode.CONCURRENT)
@EnabledOnOs(OS.LINUX)
@Tag("local")
final class HistoryTest {
  private static final String HOME_REF = "refs/gpush/devbox/main";

  private SessionRig rig;
  private GatewaySessions gateway;
  private Path project;
  private Path there;

  @BeforeEach
  void begin() throws Exception {
    rig = SessionRig.live();
    gateway = rig.gateway();
    project = rig.project("project");
    git(project, "init", "-q", "-b", "main");
    git(project, "config", "user.name", "Ann");
    git(project, "config", "user.email", "ann@example.org");
    git(project, "remote", "add", "origin", "https://ann:secret@example.org/a/b.git");
    commit(project, "train.py", "print(1)\n");
  }

  @AfterEach
  void end() throws IOException {
    rig.close();
  }

  private void up() throws InterruptedException {
    there =
        Path.of(gateway.up(ask(project, 2), Talk.silent()).nodes().getFirst().info().workspace());
    gateway.sync(DEVBOX, false, Talk.silent());
  }

  /** What git prints; empty when it fails. */
  private static String git(Path folder, String... words) {
    var command = new ArrayList<>(List.of("git", "-C", folder.toString()));
    command.addAll(List.of(words));
    var builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD);
    builder.environment().put("GIT_CONFIG_GLOBAL", "/dev/null");
    try {
      Process process = builder.start();
      process.getOutputStream().close();
      var said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return process.waitFor() == 0 ? said.strip() : "";
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    } catch (InterruptedException stop) {
      throw new IllegalStateException(stop);
    }
  }

  private static String commit(Path folder, String file, String text) throws IOException {
    Files.writeString(folder.resolve(file), text);
    String before = head(folder);
    git(folder, "add", file);
    git(folder, "commit", "-q", "-m", file);
    String made = head(folder);
    assertNotEquals(before, made);
    return made;
  }

  private static String head(Path folder) {
    return git(folder, "rev-parse", "HEAD");
  }

  private void awaitFollows() {
    until(
        "node 0 follows: " + gateway.syncState(DEVBOX).history(),
        () ->
            head(there).equals(head(project))
                && gateway.syncState(DEVBOX).history().endsWith(", as here"));
  }

  private void awaitHome(String commit) {
    until("commits come home", () -> git(project, "rev-parse", HOME_REF).equals(commit));
  }

  @Test
  void followsCommitsAndBranches() throws Exception {
    up();
    awaitFollows();
    assertEquals("", git(there, "status", "--porcelain"));
    assertEquals("https://example.org/a/b.git", git(there, "remote", "get-url", "origin"));
    assertEquals("ann@example.org", git(there, "config", "user.email"));

    commit(project, "train.py", "print(2)\n");
    awaitFollows();
    git(project, "checkout", "-q", "-b", "other");
    commit(project, "new.py", "print(3)\n");
    awaitFollows();

    assertEquals("refs/heads/other", git(there, "symbolic-ref", "HEAD"));
    until("the files are there", () -> git(there, "status", "--porcelain").isEmpty());
    assertEquals("new.py\ntrain.py\ntrain.py", git(there, "log", "--format=%s", "other", "--"));
  }

  /** A session that began before git init had no history until the gateway was started again. */
  @Test
  void followsARepositoryThatIsMadeOrRemovedLater() throws Exception {
    Path repository = project.resolve(".git");
    Path elsewhere = project.resolveSibling("elsewhere.git");
    Files.move(repository, elsewhere);
    up();
    assertEquals("", gateway.syncState(DEVBOX).history());
    Files.move(elsewhere, repository);
    awaitFollows();

    Files.move(repository, elsewhere);
    until("it is known", () -> gateway.syncState(DEVBOX).history().isEmpty());
    Files.move(elsewhere, repository);
    commit(project, "train.py", "print(2)\n");
    awaitFollows();
  }

  @Test
  void commitsMadeThereComeHomeAndCanBeTaken() throws Exception {
    up();
    awaitFollows();
    String made = commit(there, "there.py", "print(4)\n");
    awaitHome(made);
    until(
        "it is said",
        () -> gateway.syncState(DEVBOX).history().contains("1 commit of node 0 is here"));
    assertEquals(1, git(project, "log", "--format=%s", "main").lines().count());

    // Also where the file has come home before: a merge would not replace it.
    git(project, "reset", "-q", HOME_REF);
    awaitFollows();
    until("the ref goes", () -> git(project, "rev-parse", "-q", "--verify", HOME_REF).isEmpty());
  }

  @Test
  void whatCameHomeIsNamedAlsoWhileABranchThereIsInTheWay() throws Exception {
    up();
    awaitFollows();
    git(there, "checkout", "-q", "-b", "fix/before");
    commit(there, "there.py", "print(4)\n");
    git(there, "checkout", "-q", "main");
    git(project, "checkout", "-q", "-b", "fix");

    String at = head(project).substring(0, 9);
    String said =
        "node 0 has no history of now, because its branch fix/before is in the way of fix"
            + ("; node 0 is on main, " + at)
            + "; 1 commit of node 0 is here as refs/gpush/devbox/fix/before";
    until(
        () -> "all is named, not " + gateway.syncState(DEVBOX).history(),
        () -> gateway.syncState(DEVBOX).history().equals(said));
  }

  private List<String> newsOfSync() throws InterruptedException {
    FakeTalk talk = FakeTalk.answering(true);
    gateway.sync(DEVBOX, false, talk);
    return talk.lines().stream().filter(line -> line.contains(" of node 0 ")).toList();
  }

  @Test
  void whatWasOnlyInARefStays() throws Exception {
    up();
    awaitFollows();
    String first = commit(there, "there.py", "print(4)\n");
    awaitHome(first);

    git(there, "commit", "-q", "--amend", "-m", "again");
    String second = head(there);
    awaitHome(second);

    assertEquals(first, git(project, "rev-parse", HOME_REF + "-2"));
  }

  @Test
  void comesHomeWhenTheSessionEnds() throws Exception {
    up();
    awaitFollows();
    String made = commit(there, "train.py", "print(5)\n");

    Sessions.GivenBack given = gateway.down(DEVBOX, true, Talk.silent());

    assertEquals(made, git(project, "rev-parse", HOME_REF));
    assertFalse(Files.exists(there.resolve(".git")), given::toString);
  }

  /** Of two stashes the older one, and a commit that only a tag has, went with the session. */
  @Test
  void allStashesAndTagsComeHomeWhenTheSessionEnds() throws Exception {
    up();
    awaitFollows();
    String first = stash("print(5)\n");
    String second = stash("print(6)\n");
    git(there, "checkout", "-q", "--detach");
    String made = commit(there, "there.py", "print(7)\n");
    git(there, "tag", "best");
    git(there, "checkout", "-q", "main");

    Sessions.GivenBack given = gateway.down(DEVBOX, true, Talk.silent());

    var home = git(project, "for-each-ref", "--format=%(objectname)", "refs/gpush").lines();
    assertTrue(home.toList().containsAll(List.of(first, second, made)));
    assertFalse(Files.exists(there.resolve(".git")), given::toString);
  }

  private String stash(String text) throws IOException {
    Files.writeString(there.resolve("train.py"), text);
    git(there, "stash", "-q");
    return git(there, "rev-parse", "refs/stash");
  }

  @Test
  void onlyTheNewestCommitsAreSentWhereThatIsWanted() throws Exception {
    Files.writeString(project.resolve("gpush.yaml"), "git: {history: 2}\n");
    git(project, "tag", "old");
    for (int number = 2; number < 5; number++) {
      commit(project, "train.py", "print(%d)\n".formatted(number));
    }
    git(project, "tag", "-a", "-m", "new", "new");
    up();
    until("it is there", () -> head(there).equals(head(project)));
    assertEquals("2", git(there, "rev-list", "--count", "HEAD"));
    assertEquals("new", git(there, "tag"));
    assertEquals("", git(there, "fsck", "--connectivity-only"));

    commit(project, "train.py", "print(5)\n");
    until("it follows", () -> head(there).equals(head(project)));
    assertEquals("3", git(there, "rev-list", "--count", "HEAD"));
    assertTrue(
        gateway.syncState(DEVBOX).history().contains("its history is cut, as git.history says"));

    String made = commit(there, "there.py", "print(6)\n");
    awaitHome(made);
    assertEquals("6", git(project, "rev-list", "--count", HOME_REF));
    String said = "1 commit of node 0 is here as " + HOME_REF;
    until("it is known", () -> gateway.syncState(DEVBOX).history().contains(said));
    assertEquals(List.of(said), newsOfSync());
    assertEquals(List.of(), newsOfSync());
  }

  @Test
  void ofALargeHistoryTheNewestCommitIsThereFirst() throws Exception {
    Files.write(project.resolve(".git/objects/pack/large.pack"), new byte[20 << 20]);
    commit(project, "train.py", "print(2)\n");
    up();
    awaitFollows();

    assertEquals("2", git(there, "rev-list", "--count", "HEAD"));
    assertEquals("", git(there, "status", "--porcelain"));
    assertEquals("", git(there, "fsck", "--connectivity-only"));
    assertFalse(Files.exists(there.resolve(".git/shallow")));
  }

  @Test
  void isLeftOutWhereItIsSwitchedOff() throws Exception {
    Files.writeString(project.resolve("gpush.yaml"), "git: {history: none}\n");
    up();
    commit(project, "train.py", "print(2)\n");
    until(
        "the save is there",
        () -> {
          try {
            return Files.readString(there.resolve("train.py")).equals("print(2)\n");
          } catch (IOException notYet) {
            return false;
          }
        });

    assertEquals("", gateway.syncState(DEVBOX).history());
    assertFalse(Files.exists(there.resolve(".git")));
  }
}
