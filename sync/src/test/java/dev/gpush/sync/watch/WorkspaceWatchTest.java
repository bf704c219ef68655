package dev.gpush.sync.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.testkit.fake.ManualClock;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What is one change of a working tree: the real git, held at its steps, in time of the test. */
@Execution(ExecutionMode.CONCURRENT)
final class WorkspaceWatchTest {
  /** Between two steps of git: longer than any quiet moment. */
  private static final Duration STEP = Duration.ofMillis(500);

  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final WatchTiming TIMING = WatchTiming.usual();

  /** What git runs at a step: it says that it is there, and waits for a line. */
  private static final String STOP = "echo AT >&2; read go <&3";

  @TempDir private Path root;
  private final ManualClock clock = new ManualClock();
  private final Moments moments = new Moments();
  private WorkspaceWatch watch;

  /** Something that happens to the tree. */
  private interface Moment {
    void happen() throws IOException;
  }

  /** Time passes while a change is waited for, and each time the next of these happens. */
  private final class Moments implements TreeWatcher {
    private final Deque<Moment> moments = new ArrayDeque<>();
    private Duration left = STEP;
    private List<Path> folders = List.of();
    private Optional<String> lacking = Optional.empty();

    @Override
    public Hints await(Duration limit) {
      if (moments.isEmpty() || left.compareTo(limit) > 0) {
        clock.advance(limit);
        left = moments.isEmpty() ? STEP : left.minus(limit);
        return Hints.none();
      }
      clock.advance(left);
      left = STEP;
      try {
        moments.remove().happen();
      } catch (IOException broken) {
        throw new UncheckedIOException(broken);
      }
      return new Hints(Set.of(root), Map.of(), false, 1);
    }

    @Override
    public void watch(Path folder) {}

    @Override
    public void forget(Path folder) {}

    @Override
    public List<Path> folders() {
      return folders;
    }

    @Override
    public boolean isCalm() {
      return moments.isEmpty();
    }

    @Override
    public void dealtWith() {}

    @Override
    public void wake() {}

    @Override
    public Optional<String> lacking() {
      return lacking;
    }

    @Override
    public void close() {}
  }

  /** A command of git that waits at its steps. */
  private final class HeldGit {
    private final Process process;
    private final BufferedReader said;

    HeldGit(String... words) throws IOException {
      process = start("exec 3<&0; exec git \"$@\"", words);
      said = process.errorReader(StandardCharsets.UTF_8);
      awaitStop();
    }

    void go() throws IOException {
      process.outputWriter().write("go\n");
      process.outputWriter().flush();
      awaitStop();
    }

    private void awaitStop() throws IOException {
      String line = said.readLine();
      while (line != null && !line.equals("AT")) {
        line = said.readLine();
      }
    }
  }

  private Process start(String script, String... words) throws IOException {
    var command = new ArrayList<>(List.of("sh", "-c", script, "git", "-C", root.toString()));
    command.addAll(List.of("-c", "user.name=Ann", "-c", "user.email=ann@example.org"));
    command.addAll(List.of("-c", "gc.auto=0"));
    command.addAll(List.of(words));
    var builder = new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD);
    builder.environment().put("GIT_CONFIG_GLOBAL", "/dev/null");
    builder.environment().put("GIT_CONFIG_NOSYSTEM", "1");
    return builder.start();
  }

  private int git(String... words) throws IOException, InterruptedException {
    Process process = start("exec git \"$@\" 2> /dev/null", words);
    process.getErrorStream().readAllBytes();
    return process.waitFor();
  }

  private void commit(String file, String text) throws IOException, InterruptedException {
    Files.writeString(root.resolve(file), text);
    assertEquals(0, git("add", "--all"));
    assertEquals(0, git("commit", "-q", "-m", file));
  }

  private void save(String text) throws IOException {
    Files.writeString(root.resolve("train.py"), text);
  }

  @BeforeEach
  void begin() throws Exception {
    watch = new WorkspaceWatch(root, moments, TIMING, clock);
    assertEquals(0, git("init", "-q", "-b", "main"));
    commit("train.py", "x = 1\n");
  }

  /** How many changes are reported until nothing happens any more. */
  private int changes() throws InterruptedException {
    int count = 0;
    while (watch.next(LIMIT).isPresent()) {
      count++;
    }
    return count;
  }

  private HeldGit held;

  /** The command, from its start to its end, is that many moments. */
  private void held(int stops, String... words) {
    moments.moments.add(() -> held = new HeldGit(words));
    for (int i = 0; i < stops; i++) {
      moments.moments.add(() -> held.go());
    }
  }

  /** How long after the last of the moments it is reported. */
  private Duration delay() throws InterruptedException {
    long begun = clock.nanos();
    int count = moments.moments.size();
    assertTrue(watch.next(LIMIT).isPresent());
    return Duration.ofNanos(clock.nanos() - begun).minus(STEP.multipliedBy(count));
  }

  @Test
  void aRebaseIsOneChange() throws Exception {
    assertEquals(0, git("checkout", "-q", "-b", "topic"));
    for (int i = 0; i < 6; i++) {
      commit("file" + i, "" + i);
    }
    assertEquals(0, git("checkout", "-q", "main"));
    commit("main.py", "y = 1\n");
    assertEquals(0, git("checkout", "-q", "topic"));
    held(6, "rebase", "-q", "-x", STOP, "main");

    assertEquals(1, changes());

    assertEquals(0, held.process.waitFor());
    assertEquals("y = 1\n", Files.readString(root.resolve("main.py")));
  }

  @Test
  void aCheckoutIsOneChangeHoweverLongItTakes() throws Exception {
    assertEquals(0, git("config", "filter.held.clean", "cat"));
    assertEquals(0, git("config", "filter.held.smudge", STOP + "; cat"));
    Files.writeString(root.resolve(".gitattributes"), "*.held filter=held\n");
    assertEquals(0, git("checkout", "-q", "-b", "other"));
    for (int i = 0; i < 300; i++) {
      Files.writeString(root.resolve(i + (i % 25 == 0 ? ".held" : ".py")), "other");
    }
    commit("train.py", "x = 2\n");
    assertEquals(0, git("checkout", "-q", "main"));
    held(12, "checkout", "-q", "other");

    assertEquals(1, changes());

    assertEquals(0, held.process.waitFor());
    assertEquals("x = 2\n", Files.readString(root.resolve("train.py")));
  }

  @Test
  void aRebaseThatWaitsForAPersonHoldsUpNoSave() throws Exception {
    assertEquals(0, git("checkout", "-q", "-b", "topic"));
    commit("train.py", "x = 2\n");
    commit("new.py", "z = 1\n");
    assertEquals(0, git("checkout", "-q", "main"));
    commit("train.py", "x = 3\n");
    assertEquals(0, git("checkout", "-q", "topic"));
    held(0, "rebase", "-q", "-x", STOP, "main");

    assertEquals(TIMING.quiet().plus(TIMING.gitStill()), delay());
    assertEquals(1, held.process.waitFor(), "it has a conflict");

    for (int i = 0; i < 5; i++) {
      moments.moments.add(() -> save("x = 4\n"));
      assertEquals(TIMING.quiet(), delay());
    }
    assertEquals(0, git("add", "train.py"));
    held(2, "-c", "core.editor=true", "rebase", "--continue");
    assertEquals(1, changes());
    assertEquals(0, held.process.waitFor());
    assertTrue(Files.exists(root.resolve("new.py")));
  }

  @Test
  void aLockThatWasLeftOverIsWaitedForOnce() throws Exception {
    Files.writeString(root.resolve(".git/index.lock"), "");
    moments.moments.add(() -> save("x = 2\n"));
    assertEquals(TIMING.quiet().plus(TIMING.gitStill()), delay());

    moments.moments.add(() -> save("x = 3\n"));
    assertEquals(TIMING.quiet(), delay());
  }

  @Test
  void savesBesideALockThatWasLeftOverAreNotHeldForEver() throws Exception {
    Files.writeString(root.resolve(".git/index.lock"), "");
    for (int i = 0; i < 80; i++) {
      moments.moments.add(() -> save("x = 2\n"));
    }
    long begun = clock.nanos();
    assertTrue(watch.next(LIMIT).isPresent());
    Duration waited = Duration.ofNanos(clock.nanos() - begun);
    assertTrue(waited.compareTo(TIMING.gitLongest().plus(STEP).plus(STEP)) < 0, waited::toString);

    int left = moments.moments.size();
    assertEquals(left, changes());
  }

  @Test
  void whereNothingIsReportedALookWaitsForGitToo() throws Exception {
    moments.lacking = Optional.of("a disk of another machine");
    watch.looked(Optional.empty(), Duration.ZERO);
    clock.advance(TIMING.scan());
    Files.writeString(root.resolve(".git/index.lock"), "");
    assertEquals(TIMING.gitStill(), delay());
  }

  /** What is looked at next though nothing has happened. */
  private Set<Path> unasked() throws InterruptedException {
    return watch.next(Duration.ofDays(1)).orElseThrow().folders().orElseThrow();
  }

  @Test
  void allFoldersAreLookedAtInTurnSomeAtATime() throws Exception {
    moments.folders = IntStream.range(0, 100).mapToObj(i -> root.resolve("pkg" + i)).toList();
    var looked = new ArrayList<Path>();
    while (looked.size() < 100) {
      Set<Path> some = unasked();
      looked.addAll(some);
      watch.looked(Optional.of(some), Duration.ofMillis(1));
    }
    assertEquals(Set.copyOf(moments.folders), Set.copyOf(looked));
    assertEquals(100, looked.size());
    Duration took = Duration.ofNanos(clock.nanos());
    assertTrue(took.compareTo(TIMING.check().multipliedBy(2)) <= 0, took::toString);
  }

  @Test
  void aLookThatTakesLongIsFollowedByASmallerOneMuchLater() throws Exception {
    moments.folders = IntStream.range(0, 100).mapToObj(i -> root.resolve("pkg" + i)).toList();
    Set<Path> first = unasked();
    watch.looked(Optional.of(first), Duration.ofMillis(100));
    long begun = clock.nanos();

    assertEquals(first.size() / 4, unasked().size());

    assertEquals(Duration.ofSeconds(500), Duration.ofNanos(clock.nanos() - begun));
  }
}
