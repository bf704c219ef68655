package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.time.Clock;
import dev.gpush.sync.home.NodeWatch;
import dev.gpush.sync.tree.Generation;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random work on the laptop, in an editor on node 0 and, against all advice, on node 1, while nodes
 * die, lines are cut, disks fill, the gateway ends and clocks jump. Whatever a push does with it:
 * no content is lost that only its user could make again, no file is ever half of one, nothing
 * outside the project is touched, and as soon as the trouble ends all sides are equal.
 *
 * <p>A few steps in every build, {@code scripts/long sync} takes thousands, and with the profile
 * long a hundred thousand. {@code -Dgpush.seed} and {@code -Dgpush.rounds} repeat one.
 */
final class SyncOracleTest extends SyncFixture {
  private static final boolean LONG = Boolean.getBoolean("gpush.long");
  private static final int FEW = Integer.getInteger("gpush.rounds", 40);
  private static final int MANY = Integer.getInteger("gpush.rounds", LONG ? 100_000 : 3_000);
  private static final int UNTIL_CALM = 20;
  private static final int NODES = 2;
  private static final int NAMES = 9;
  private static final int LONGEST = 6_000;
  private static final int MOST_BYTES = 7_000;
  private static final int MOST_CHANGES = 60;
  private static final String KEPT = "kept.py";
  private static final String OUTSIDE = "not of the project";

  private enum Trouble {
    NONE,
    NODE_DIES,
    NODE_KILLED,
    LINE_CUT,
    DISK_FULL,
    GATEWAY_ENDS
  }

  /** The time of day of a machine whose battery is empty. */
  private static final class JumpingClock implements Clock {
    private volatile Duration off = Duration.ZERO;

    @Override
    public Instant now() {
      return Clock.system().now().plus(off);
    }

    @Override
    public long nanos() {
      return Clock.system().nanos();
    }
  }

  private final long seed = Long.getLong("gpush.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final JumpingClock jumping = new JumpingClock();
  private final Sides sides = new Sides();
  private final Set<String> known = new HashSet<>(Set.of(""));
  private final Map<String, Integer> counts = new TreeMap<>();
  private final List<Path> mounts = new ArrayList<>();
  private final List<String> history = new ArrayList<>();
  private int written;
  private boolean canFill;

  @AfterEach
  void unmount() throws Exception {
    for (FakeNode node : nodes) {
      node.stop();
    }
    for (Path mount : mounts) {
      new ProcessBuilder("umount", mount.toString()).start().waitFor();
    }
  }

  @Test
  void whateverHappensNothingIsLost() throws Exception {
    nothingIsLostIn(FEW);
  }

  @Test
  @Tag("sync")
  @Timeout(value = 12, unit = TimeUnit.HOURS)
  void whateverHappensForHoursNothingIsLost() throws Exception {
    nothingIsLostIn(MANY);
  }

  private void nothingIsLostIn(int steps) throws Exception {
    System.out.printf(
        "SyncOracleTest seed %d, %d steps (-Dgpush.seed, -Dgpush.rounds)%n", seed, steps);
    clock = jumping;
    restartGateway();
    nodes(NODES);
    canFill = true;
    for (FakeNode node : nodes) {
      canFill &= mounted(home(node));
      Files.createDirectories(home(node).resolve("outside"));
      Files.writeString(home(node).resolve("outside/file"), OUTSIDE);
    }
    if (!canFill) {
      System.out.println("SyncOracleTest: no disk is full, because nothing can be mounted here");
    }
    laptop.write(KEPT, next()); // An empty workspace is asked about.
    try {
      steps(steps);
    } catch (Exception | AssertionError failed) {
      history.forEach(System.out::println);
      throw failed;
    }
    System.out.println("SyncOracleTest: " + counts);
  }

  private void steps(int steps) throws Exception {
    for (int step = 1; step <= steps; step++) {
      if (step % UNTIL_CALM == 1) {
        allBecomeEqual("step " + step);
      }
      work(laptop.path());
      for (FakeNode node : nodes) {
        if (node.equals(nodes.getFirst()) || random.nextInt(5) == 0) {
          work(node.folder().path());
        }
      }
      step("seed " + seed + ", step " + step);
    }
    allBecomeEqual("the end");
  }

  // ---- a step

  private void step(String at) throws Exception {
    sides.before(laptop.path(), folders());
    history.add(at + "\n  before " + everything());
    Trouble trouble = pick();
    boolean isPushed = push(trouble);
    if (trouble == Trouble.DISK_FULL) {
      heal();
    }
    String what = at + ", " + trouble + (isPushed ? ", pushed" : ", held");
    var kept = new ArrayList<Set<String>>();
    for (FakeNode node : nodes) {
      kept.add(kept(node));
    }
    Map<String, String> here = Sides.contents(laptop.path());
    List<String> lost = sides.lost(here, tree(nodes.getFirst()), kept);
    history.add(what + "\n  after  " + everything());
    assertEquals(List.of(), lost, what);
    assertWhole(laptop.path(), what);
    for (FakeNode node : nodes) {
      assertWhole(node.folder().path(), what);
      assertEquals(OUTSIDE, Files.readString(home(node).resolve("outside/file")), what);
    }
    if (isPushed) {
      for (FakeNode node : nodes) {
        assertHasWhatWasPushed(node, what);
      }
    }
  }

  private Trouble pick() {
    if (random.nextBoolean()) {
      return Trouble.NONE;
    }
    Trouble some = Trouble.values()[1 + random.nextInt(Trouble.values().length - 1)];
    return some == Trouble.DISK_FULL && !canFill ? Trouble.LINE_CUT : some;
  }

  private boolean push(Trouble trouble) throws Exception {
    FakeNode victim = nodes.get(random.nextInt(NODES));
    Thread pushing = Thread.currentThread();
    switch (trouble) {
      case NONE -> {}
      case NODE_DIES -> {
        victim.stop();
        victim.dieAt = 1 + random.nextInt(MOST_CHANGES);
      }
      case NODE_KILLED -> after(victim, () -> kill(victim));
      case LINE_CUT -> after(victim, victim::cut);
      case DISK_FULL -> fill(victim);
      case GATEWAY_ENDS -> after(victim, pushing::interrupt);
    }
    if (random.nextInt(10) == 0) {
      jumping.off = Duration.ofSeconds(random.nextInt(-100_000, 100_000));
    }
    String how = "pushed";
    try {
      how = isSave() ? "saved" : "pushed";
      if (how.equals("saved")) {
        sync.lookAgain(Optional.empty(), Set.of());
        if (random.nextBoolean()) {
          var said = new NodeWatch.Due(false, new HashSet<>(List.of(path(), path())));
          sync.comeHome(nodes.getFirst(), said);
          sync.lookAgain(Optional.empty(), Set.of());
        }
        sync.pushLooked(all(), random.nextBoolean());
      } else {
        PushOptions options = PushOptions.standard();
        sync.push(all(), random.nextInt(3) == 0 ? options.overwriting() : options, talk);
      }
    } catch (GpushException held) {
      how = failed(held, trouble);
    } catch (NodeFailed held) {
      how = failed(held.failure(), trouble);
    } catch (InterruptedException ended) {
      how = "ended";
    }
    boolean isLate = Thread.interrupted();
    if (trouble == Trouble.GATEWAY_ENDS) {
      restartGateway();
    } else {
      assertTrue(!isLate, "nobody else interrupts");
    }
    nodes.forEach(node -> node.moment.set(null));
    victim.dieAt = 0;
    counts.merge(trouble + " " + how, 1, Integer::sum);
    return how.equals("pushed");
  }

  /**
   * A user can do something about these, and a node that was to die may do so later; everything
   * else needs the trouble.
   */
  private String failed(GpushException held, Trouble trouble) {
    boolean isForUser =
        held.failure() instanceof SyncFailure.Held
            || held.failure() instanceof AgentFailure.LinkOver
            || held.failure() instanceof UsageFailure.NobodyToAsk
            || held.failure() instanceof SyncFailure.NotWritten;
    if (!isForUser && trouble == Trouble.NONE) {
      throw new AssertionError("without any trouble: " + held.failure(), held);
    }
    return held.failure().getClass().getSimpleName();
  }

  /** As while nobody types a command. */
  private boolean isSave() {
    return random.nextInt(3) == 0;
  }

  private void after(FakeNode node, Runnable action) {
    node.moment.set(new FakeNode.Moment(new AtomicLong(random.nextInt(MOST_BYTES)), action));
  }

  private static void kill(FakeNode node) {
    try {
      node.kill();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  // ---- what must hold

  /** All trees and trashes, with the numbers of the texts. */
  private String everything() throws IOException {
    var all = new TreeMap<String, Map<String, String>>();
    all.put("laptop", Sides.contents(laptop.path()));
    all.put("trash here", Sides.contents(base.resolve("trash")));
    for (FakeNode node : nodes) {
      all.put("node " + node.info().index(), tree(node));
      all.put("trash " + node.info().index(), Sides.contents(state(node).resolve("trash")));
    }
    all.values().forEach(tree -> tree.replaceAll((_, text) -> Sides.name(text)));
    return all.toString();
  }

  /** Where the user of a node finds a text again. */
  private Set<String> kept(FakeNode node) throws IOException {
    var kept = new HashSet<String>();
    kept.addAll(Sides.contents(laptop.path()).values());
    kept.addAll(Sides.contents(base.resolve("trash")).values());
    for (FakeNode each : List.of(nodes.getFirst(), node)) {
      kept.addAll(tree(each).values());
      kept.addAll(Sides.contents(state(each).resolve("trash")).values());
    }
    return kept;
  }

  private void assertWhole(Path root, String what) throws IOException {
    for (Map.Entry<String, String> file : Sides.contents(root).entrySet()) {
      assertTrue(known.contains(file.getValue()), () -> what + ": half a file " + file.getKey());
    }
  }

  private void assertHasWhatWasPushed(FakeNode node, String what) throws Exception {
    Map<String, String> here = Sides.contents(laptop.path());
    Map<String, String> there = tree(node);
    for (String path : sync.pushed().entries().keySet()) {
      assertEquals(
          here.get(path), there.get(path), () -> what + ": " + path + " on " + node.info().index());
    }
  }

  /** The trouble is over: a user who says what to do has the same everywhere. */
  private void allBecomeEqual(String when) throws Exception {
    String at = "seed " + seed + ", " + when;
    jumping.off = Duration.ZERO;
    talk.answer = FakeTalk.Answer.YES;
    Generation same = overwritten();
    talk.answer = FakeTalk.Answer.NOBODY;
    assertAllHold(same);
    for (FakeNode node : nodes) {
      assertHasWhatWasPushed(node, at);
      Sides.empty(state(node).resolve("trash"));
    }
    Sides.empty(base.resolve("trash"));
    Map<String, String> all = Sides.contents(laptop.path());
    sides.equal(all);
    history.clear();
    known.retainAll(texts());
    known.add("");
  }

  /** What comes home from node 0 may be in the way of what is on node 1, so once is not enough. */
  private Generation overwritten() throws InterruptedException {
    for (int i = 0; ; i++) {
      sync.push(all(), PushOptions.standard().overwriting(), talk);
      try {
        return sync.push(all(), PushOptions.standard(), talk);
      } catch (GpushException held) {
        if (i == NODES || !(held.failure() instanceof SyncFailure.Held)) {
          throw held;
        }
      }
    }
  }

  private Set<String> texts() throws IOException {
    var texts = new HashSet<>(Sides.contents(laptop.path()).values());
    for (FakeNode node : nodes) {
      texts.addAll(tree(node).values());
    }
    return texts;
  }

  // ---- the users

  private String next() {
    written++;
    String text = written + " " + "=".repeat(random.nextInt(4) == 0 ? random.nextInt(LONGEST) : 3);
    known.add(text);
    return text;
  }

  /** The names of files and folders are the same, so each may be where the other was. */
  private String path() {
    var path = new StringBuilder("n" + random.nextInt(NAMES));
    while (random.nextInt(3) == 0) {
      path.append("/n").append(random.nextInt(NAMES));
    }
    return path.toString();
  }

  private void work(Path root) throws IOException {
    if (!Files.isDirectory(root)) {
      return;
    }
    for (int i = random.nextInt(4); i > 0; i--) {
      List<String> names = new ArrayList<>(Sides.contents(root).keySet());
      names.remove(KEPT);
      names.sort(null);
      String some = names.isEmpty() ? path() : names.get(random.nextInt(names.size()));
      switch (random.nextInt(9)) {
        case 0 -> delete(root.resolve(some));
        case 1 -> rename(root, some);
        case 2 -> delete(root.resolve(path())); // perhaps a folder
        case 3 -> unseen(root.resolve(some));
        case 4 -> linkOutside(root);
        case 5, 6 -> write(root, path(), next());
        default -> write(root, some, next());
      }
    }
  }

  private static void delete(Path file) throws IOException {
    if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      new WorkFolder(file.getParent()).delete(file.getFileName().toString());
    }
  }

  /** What is in the way of its folders goes. */
  private static void write(Path root, String path, String text) throws IOException {
    Path file = cleared(root, path);
    Files.writeString(file, text);
  }

  private static Path cleared(Path root, String path) throws IOException {
    Path at = root;
    for (Path name : Path.of(path)) {
      at = at.resolve(name);
      boolean isLast = at.equals(root.resolve(path));
      if (Files.isDirectory(at, LinkOption.NOFOLLOW_LINKS) == isLast || Files.isSymbolicLink(at)) {
        delete(at);
      }
    }
    Files.createDirectories(at.getParent());
    return at;
  }

  private void rename(Path root, String from) throws IOException {
    Path source = root.resolve(from);
    String to = path();
    if (Files.exists(source, LinkOption.NOFOLLOW_LINKS)
        && !root.resolve(to).startsWith(source)
        && !source.startsWith(root.resolve(to))) {
      Path target = cleared(root, to);
      if (Files.exists(source, LinkOption.NOFOLLOW_LINKS)) {
        Files.move(source, target, StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  /** Of the same size, and with the time of the last version, or of another year. */
  private void unseen(Path file) throws IOException {
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    FileTime time = Files.getLastModifiedTime(file);
    int size = (int) Files.size(file);
    String text = next();
    String fitting = text.length() >= size ? text : text + "=".repeat(size - text.length());
    known.add(fitting);
    Files.writeString(file, fitting);
    Instant then =
        random.nextBoolean()
            ? time.toInstant()
            : time.toInstant().plusSeconds(random.nextInt(-100_000_000, 100_000_000));
    Files.setLastModifiedTime(file, FileTime.from(then));
  }

  /** A folder or file becomes a link that leads out of the project. */
  private void linkOutside(Path root) throws IOException {
    Path link = cleared(root, path());
    delete(link);
    Files.createSymbolicLink(link, root.getParent().resolve("outside"));
  }

  // ---- nodes and their disks

  private static Path home(FakeNode node) {
    return node.folder().path().getParent();
  }

  private List<Path> folders() {
    return nodes.stream().map(node -> node.folder().path()).toList();
  }

  private static Map<String, String> tree(FakeNode node) throws IOException {
    return Sides.contents(node.folder().path());
  }

  private boolean mounted(Path folder) throws Exception {
    Files.createDirectories(folder);
    if (!System.getProperty("user.name").equals("root")) {
      return false;
    }
    boolean isMounted =
        new ProcessBuilder("mount", "-t", "tmpfs", "-o", "size=16m", "gpush-test", folder + "")
                .start()
                .waitFor()
            == 0;
    if (isMounted) {
      mounts.add(folder);
    }
    return isMounted;
  }

  /** Until a few KiB are left. */
  private void fill(FakeNode node) throws IOException {
    Path filler = home(node).resolve("filler");
    try (OutputStream out = Files.newOutputStream(filler)) {
      while (true) {
        out.write(new byte[4096]);
      }
    } catch (IOException full) {
      try (var channel = Files.newByteChannel(filler, java.nio.file.StandardOpenOption.WRITE)) {
        channel.truncate(Math.max(0, channel.size() - random.nextInt(30_000)));
      }
    }
  }

  private void heal() throws IOException {
    for (FakeNode node : nodes) {
      Files.deleteIfExists(home(node).resolve("filler"));
    }
  }
}
