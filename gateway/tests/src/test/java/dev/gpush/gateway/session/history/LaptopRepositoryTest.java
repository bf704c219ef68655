package dev.gpush.gateway.session.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.task.Tasks;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With the real git of this machine. */
final class LaptopRepositoryTest {
  private static final NodeRepository.State NOTHING =
      new NodeRepository.State(false, Optional.empty(), Map.of(), Map.of(), List.of(), "");

  private final Tasks tasks = Tasks.named("test", (thread, bug) -> bug.printStackTrace());

  @TempDir private Path temporary;
  private Git git;
  private LaptopRepository repository;

  @BeforeEach
  void begin() throws Exception {
    Path root = Files.createDirectory(temporary.resolve("project")).toRealPath();
    git = new Git(root, tasks);
    git.lines("", "init", "-q", "-b", "main");
    git.lines("", "config", "user.name", "Ann");
    git.lines("", "config", "user.email", "ann@example.org");
    repository = sending(root, Optional.empty());
  }

  private LaptopRepository sending(Path root, Optional<Integer> most) {
    return new SessionHistory.Source(root, most).repository(tasks).orElseThrow();
  }

  @AfterEach
  void end() {
    tasks.close();
  }

  private String commit(String text) throws Exception {
    git.lines("", "commit", "-q", "--allow-empty", "-m", text);
    return git.run("rev-parse", "HEAD").out();
  }

  private byte[] pack(List<String> wanted, List<String> had) throws Exception {
    var out = new ByteArrayOutputStream();
    repository.pack(wanted, had, List.of(), out);
    return out.toByteArray();
  }

  @Test
  void hasNothingBeforeTheFirstCommit() throws Exception {
    assertTrue(repository.read(NOTHING).isEmpty());
  }

  @Test
  void sendsBranchesAndWhatCostsNoMoreObjects() throws Exception {
    String first = commit("one");
    git.lines("", "tag", "v1");
    git.lines("", "update-ref", "refs/remotes/origin/main", first);
    git.lines("", "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main");
    git.lines("", "checkout", "-q", "-b", "other");
    String second = commit("two");
    git.lines("", "update-ref", "refs/remotes/origin/other", second);
    git.lines("", "checkout", "-q", "main");

    LaptopRepository.State state = repository.read(NOTHING).orElseThrow();

    assertEquals("refs/heads/main", state.head());
    assertEquals(first, state.tip());
    assertEquals(
        Set.of(
            "refs/remotes/laptop/main",
            "refs/remotes/laptop/other",
            "refs/remotes/origin/main",
            "refs/tags/v1"),
        state.refs().keySet());
    assertEquals(Set.of(first, second), state.commits());
  }

  @Test
  void aHistoryThatIsCutKeepsItsBeginning() throws Exception {
    commit("one");
    git.lines("", "tag", "old");
    String second = commit("two");
    String third = commit("three");
    git.lines("", "tag", "-a", "-m", "object", "new");
    LaptopRepository cut = sending(temporary.resolve("project").toRealPath(), Optional.of(2));

    LaptopRepository.State state = cut.read(NOTHING).orElseThrow();

    assertEquals(List.of(second), state.beginning());
    assertEquals(Set.of("refs/remotes/laptop/main", "refs/tags/new"), state.refs().keySet());
    var made =
        new NodeRepository.State(
            true,
            Optional.of("refs/heads/main"),
            Map.of("x", third),
            Map.of(),
            List.of(second),
            "");
    commit("four");
    assertEquals(List.of(second), cut.read(made).orElseThrow().beginning());
    LaptopRepository all = sending(temporary.resolve("project").toRealPath(), Optional.of(100));
    assertEquals(List.of(), all.read(NOTHING).orElseThrow().beginning());
  }

  @Test
  void aStampChangesWithACommitAndACheckout() throws Exception {
    commit("one");
    String first = repository.stamp();
    commit("two");
    String second = repository.stamp();
    git.lines("", "checkout", "-q", "-b", "other");

    assertEquals(3, Set.of(first, second, repository.stamp()).size());
  }

  @Test
  void refusesAPackThatIsBroken() throws Exception {
    String first = commit("one");
    String second = commit("two");
    byte[] pack = pack(List.of(second), List.of(first));
    byte[] cut = Arrays.copyOf(pack, pack.length - 1);
    byte[] other = pack.clone();
    other[pack.length / 2] ^= 0x10;

    for (byte[] broken : List.of(new byte[0], cut, other, new byte[1000])) {
      assertThrows(HistoryStopped.class, () -> repository.unpack(new ByteArrayInputStream(broken)));
    }
    repository.unpack(new ByteArrayInputStream(pack));
  }

  @Test
  void refusesAnObjectThatGitWouldNotMake() throws Exception {
    commit("one");
    String hostile =
        git.run(
                "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor nobody\n\nx\n",
                List.of("hash-object", "-t", "commit", "--literally", "-w", "--stdin"))
            .out();
    git.lines("", "mktree");
    byte[] pack = pack(List.of(hostile), List.of());
    Path fresh = Files.createDirectory(temporary.resolve("fresh")).toRealPath();
    new Git(fresh, tasks).lines("", "init", "-q");
    LaptopRepository other = sending(fresh, Optional.empty());

    assertThrows(HistoryStopped.class, () -> other.unpack(new ByteArrayInputStream(pack)));
    assertEquals(Set.of(), other.present(List.of(hostile)));
  }

  @Test
  void refusesNamesThatAreNoRefs() throws Exception {
    String first = commit("one");

    for (String name : List.of("refs/gpush/devbox/a..b", "refs/gpush/devbox/../../heads/main")) {
      assertThrows(HistoryStopped.class, () -> repository.set(name, first));
    }
    repository.set("refs/gpush/devbox/main", first);
    assertEquals(first, repository.value("refs/gpush/devbox/main").orElseThrow());
    repository.delete("refs/gpush/devbox/main");
    assertFalse(repository.value("refs/gpush/devbox/main").isPresent());
  }
}
