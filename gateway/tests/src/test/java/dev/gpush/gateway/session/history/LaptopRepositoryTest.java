package dev.gpush.gateway.session.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.task.Tasks;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
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
      new NodeRepository.State(false, Optional.empty(), Map.of(), Map.of(), List.of(), false, "");

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
    return pack(wanted, had, List.of());
  }

  private byte[] pack(List<String> wanted, List<String> had, List<String> shallow)
      throws Exception {
    var out = new ByteArrayOutputStream();
    repository.pack(wanted, had, shallow, out);
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
    commit("zero");
    String first = commit("one");
    git.lines("", "tag", "old");
    String second = commit("two");
    String third = commit("three");
    git.lines("", "tag", "-a", "-m", "object", "new");
    LaptopRepository cut = sending(temporary.resolve("project").toRealPath(), Optional.of(2));

    LaptopRepository.State state = cut.read(NOTHING).orElseThrow();

    assertEquals(List.of(second), state.shallow());
    assertEquals(Set.of("refs/remotes/laptop/main", "refs/tags/new"), state.refs().keySet());
    NodeRepository.State made = there(third, List.of(second), false);
    commit("four");
    git.lines("", "checkout", "-q", "-b", "before", first);
    commit("five");
    git.lines("", "branch", "old", first);
    assertEquals(List.of(second, first), cut.read(made).orElseThrow().shallow());
    LaptopRepository all = sending(temporary.resolve("project").toRealPath(), Optional.of(100));
    assertEquals(List.of(), all.read(NOTHING).orElseThrow().shallow());
  }

  @Test
  void aMergeOfAnOldBranchHidesNothingOfWhatCameBefore() throws Exception {
    var commits = new StringBuilder();
    for (int i = 1; i <= 7; i++) {
      commits.append(
          "commit refs/heads/main\nmark :%d\ncommitter A <a@b> %d +0000\n".formatted(i, i));
      commits.append("data 1\nx").append(i == 3 ? "\nfrom :1" : "").append("\n");
      commits.append(i == 7 ? "merge :2\n" : "");
    }
    git.lines(commits.toString(), "fast-import", "--quiet");
    LaptopRepository cut = sending(temporary.resolve("project").toRealPath(), Optional.of(4));

    Set<String> shallow = Set.copyOf(cut.read(NOTHING).orElseThrow().shallow());

    String old = git.run("rev-parse", "main^2").out();
    assertEquals(Set.of(old, git.run("rev-parse", "main~3").out()), shallow);
  }

  private static NodeRepository.State there(String tip, List<String> shallow, boolean isFirst) {
    Optional<String> head = Optional.of("refs/heads/main");
    Map<String, String> refs = Map.of("refs/remotes/laptop/main", tip);
    return new NodeRepository.State(true, head, refs, Map.of(), shallow, isFirst, "");
  }

  @Test
  void whereAllIsSentOnlyABeginningThatIsNotHereStays() throws Exception {
    commit("one");
    String second = commit("two");
    String gone = "d".repeat(second.length());

    LaptopRepository.State state =
        repository.read(there(second, List.of(second, gone), false)).orElseThrow();

    assertEquals(List.of(gone), state.shallow());
    assertEquals(Optional.empty(), state.cut());
  }

  private void packed(long bytes) throws Exception {
    Path packs = Files.createDirectories(temporary.resolve("project/.git/objects/pack"));
    try (var pack = new RandomAccessFile(packs.resolve("large.pack").toFile(), "rw")) {
      pack.setLength(bytes);
    }
  }

  @Test
  void ofAVeryLargeHistoryTheNewestAreSentToANodeThatHasNotAll() throws Exception {
    var commits = new StringBuilder();
    for (int i = 0; i < 1001; i++) {
      commits.append(
          "commit refs/heads/main\ncommitter Ann <a@b> %d +0000\ndata 1\nx".formatted(i));
    }
    git.lines(commits.toString(), "fast-import", "--quiet");
    packed(2L << 30);

    LaptopRepository.State state = repository.read(NOTHING).orElseThrow();

    assertEquals(1, state.shallow().size());
    assertEquals(Optional.of("because all of it is more than 1 GiB"), state.cut());
    NodeRepository.State all = there(state.tip(), List.of(), false);
    assertEquals(Optional.empty(), repository.read(all).orElseThrow().cut());
  }

  @Test
  void theNewestCommitFirstBringsItsFilesOnce() throws Exception {
    Files.writeString(temporary.resolve("project/train.py"), "print(1)\n");
    git.lines("", "add", "train.py");
    commit("one");
    String parent = commit("two");
    String tip = commit("three");
    LaptopRepository.State all = repository.read(NOTHING).orElseThrow();
    assertEquals(Optional.empty(), repository.first(all), "it is small");
    packed(20 << 20);
    LaptopRepository.State first = repository.first(all).orElseThrow();
    assertEquals(Map.of("refs/remotes/laptop/main", tip), first.refs());
    assertEquals(List.of(parent), first.shallow());
    Set<String> files = repository.files(first.refs());

    assertEquals(4, objects(pack(List.of(tip), List.of(), first.shallow())));
    assertEquals(3, objects(pack(List.of(tip), List.copyOf(files), List.of())));
    NodeRepository.State there = there(tip, List.of(parent), true);
    LaptopRepository cut = sending(temporary.resolve("project").toRealPath(), Optional.of(2));
    assertEquals(List.of(parent), cut.read(there).orElseThrow().shallow());
    LaptopRepository more = sending(temporary.resolve("project").toRealPath(), Optional.of(3));
    assertEquals(Optional.empty(), more.read(there).orElseThrow().cut());
  }

  private static int objects(byte[] pack) {
    return ByteBuffer.wrap(pack).getInt(8);
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
