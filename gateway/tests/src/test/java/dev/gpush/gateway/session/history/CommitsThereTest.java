package dev.gpush.gateway.session.history;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.task.Tasks;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With the real git of this machine, which has the objects of the node already. */
final class CommitsThereTest {
  private static final String DEVBOX = "refs/gpush/devbox/";

  private final Tasks tasks = Tasks.named("test", (thread, bug) -> bug.printStackTrace());

  @TempDir private Path root;
  private Git git;
  private CommitsThere commits;

  @BeforeEach
  void begin() throws Exception {
    git = new Git(root.toRealPath(), tasks);
    git.lines("", "init", "-q", "-b", "main");
    git.lines("", "config", "user.name", "Ann");
    git.lines("", "config", "user.email", "ann@example.org");
    git.lines("", "commit", "-q", "--allow-empty", "-m", "one");
    LaptopRepository here =
        new SessionHistory.Source(root.toRealPath(), Optional.empty())
            .repository(tasks)
            .orElseThrow();
    commits =
        new CommitsThere(
            "devbox",
            0,
            here,
            (wanted, _, _) -> {
              throw new IllegalStateException("here are no " + wanted);
            });
  }

  @AfterEach
  void end() {
    tasks.close();
  }

  /** On no branch here. */
  private String made(String text) throws Exception {
    return git.run("commit-tree", "-p", "HEAD", "-m", text, "HEAD^{tree}").text().orElseThrow();
  }

  private CommitsThere.Home bringHome(Map<String, String> branches) throws Exception {
    var refs = new TreeMap<String, String>();
    branches.forEach((name, commit) -> refs.put("refs/" + name, commit));
    return commits.bringHome(
        new NodeRepository.State(true, Optional.empty(), refs, Map.of(), List.of(), false, ""));
  }

  private Map<String, String> refs() throws Exception {
    var refs = new TreeMap<String, String>();
    for (String line : git.lines("", "for-each-ref", "--format=%(objectname) %(refname)", DEVBOX)) {
      refs.put(line.substring(line.indexOf(' ') + 1 + DEVBOX.length()), line.split(" ")[0]);
    }
    return refs;
  }

  @Test
  void aRefOfABranchThatIsGoneIsInNoWay() throws Exception {
    String march = made("march");
    String today = made("today");
    String april = made("april");
    bringHome(Map.of("heads/fix", march, "heads/a/b", april));

    CommitsThere.Home home = bringHome(Map.of("heads/fix/loss", today, "heads/a", today));

    assertEquals(Map.of(), home.whyNot());
    assertEquals(Map.of("fix-2", march, "fix/loss", today, "a-b-2", april, "a", today), refs());
    bringHome(Map.of("heads/fix/loss", today, "heads/a", today));
    assertEquals(4, refs().size());
  }

  @Test
  void aRefInTheWayWhoseCommitsAreOnABranchHereGoes() throws Exception {
    String march = made("march");
    String today = made("today");
    bringHome(Map.of("heads/fix", march));
    git.lines("", "branch", "taken", march);

    bringHome(Map.of("heads/fix/loss", today));

    assertEquals(Map.of("fix/loss", today), refs());
  }

  @Test
  void aRefThatCannotMoveOrGoIsKeptOnce() throws Exception {
    String today = made("today");
    bringHome(Map.of("heads/fix", made("march"), "heads/a", made("april")));
    Path gone = Files.writeString(root.resolve(".git/packed-refs.lock"), "");
    Path moves = Files.writeString(root.resolve(".git").resolve(DEVBOX + "a.lock"), "");
    Map<String, String> now = Map.of("heads/fix/loss", today, "heads/a", today);

    bringHome(now);
    Map<String, String> once = refs();
    CommitsThere.Home home = bringHome(now);

    assertEquals(Set.of(DEVBOX + "fix/loss", DEVBOX + "a"), home.whyNot().keySet());
    assertEquals(Set.of("fix", "fix-2", "a", "a-2"), once.keySet());
    assertEquals(once, refs());
    Files.delete(gone);
    Files.delete(moves);
    bringHome(now);
    assertEquals(Set.of("fix/loss", "fix-2", "a", "a-2"), refs().keySet());
  }

  @Test
  void aRefThatCannotBeSetStopsNoOther() throws Exception {
    String first = made("first");
    String second = made("second");
    String third = made("third");
    String fourth = made("fourth");
    Path lock = root.resolve(".git").resolve(DEVBOX + "a.lock");
    Files.createDirectories(lock.getParent());
    Files.writeString(lock, "");

    CommitsThere.Home home =
        bringHome(
            Map.of("heads/a", first, "heads/b", second, "stash", third, "heads/stash/x", fourth));

    assertEquals(Set.of(DEVBOX + "a", DEVBOX + "stash/x"), home.whyNot().keySet());
    assertEquals(Map.of("b", second, "stash", third), refs());
    assertEquals(Set.of(second, third), home.tips());
  }

  @Test
  void commitsThatAreHereAreNotMissedForARefThatCannotBeSetOrDeleted() throws Exception {
    String march = made("march");
    String today = made("today");
    bringHome(Map.of("heads/a", march));
    git.lines("", "branch", "taken", march);
    Files.writeString(root.resolve(".git/packed-refs.lock"), "");

    CommitsThere.Home home =
        bringHome(Map.of("heads/a", march, "heads/b", today, "heads/b/c", today));

    assertEquals(Map.of(), home.whyNot());
    assertEquals(Map.of("a", march, "b", today), refs());
    assertEquals(Set.of(march, today), home.tips());
  }
}
