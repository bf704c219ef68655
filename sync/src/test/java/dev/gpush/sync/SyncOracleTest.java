package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.SyncFailure.HeldPath;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.session.Sessions.KeepRequest;
import dev.gpush.sync.Versions.Item;
import dev.gpush.sync.home.NodeWatch;
import dev.gpush.sync.node.SyncNode;
import dev.gpush.sync.tree.Generation;
import dev.gpush.sync.tree.Manifest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A model: one thing after another happens at random on the laptop, on node 0, where people edit,
 * and on two more nodes. People, editors, git and ranks change files, commands and saves move them,
 * lines are cut, processes are killed, disks fill, nodes start again empty, and the gateway ends.
 * The gateway's side and the nodes' programs are the real ones, and time passes only as the model
 * says. After each step no version of a person's file is lost, no file is half of one, and nothing
 * is where it does not belong; in the end all sides are equal.
 *
 * <p>2,000 steps in every build; {@code scripts/long sync} takes 20,000 of each of five seeds, the
 * first of which {@code -Dgpush.seed} names; {@code -Dgpush.rounds} is the number of steps.
 */
final class SyncOracleTest extends SyncFixture {
  private static final int FEW = Integer.getInteger("gpush.rounds", 2_000);
  private static final int MANY = Integer.getInteger("gpush.rounds", 20_000);
  private static final int SEEDS = Boolean.getBoolean("gpush.long") ? 25 : 5;
  private static final int UNTIL_CALM = 60;
  private static final int NODES = 3;
  private static final int MOST_BYTES = 3_000;
  private static final int MOST_CHANGES = 40;
  private static final int MOST_OF_COMMIT = 8;
  private static final String HEAD = "ref: refs/heads/main\n";
  private static final String OUTSIDE = "not of the project";

  /** Each is over when the push is. */
  private enum Trouble {
    NONE,
    NODE_DIES,
    NODE_OFF,
    LINE_CUT,
    LINK_DOWN,
    GATEWAY_ENDS,
    DISK_FULL,
    EDITED_MEANWHILE
  }

  /** How a push or a save ended, and of what a user can do about it. */
  private record End(String word, boolean isDone) {}

  private final Random random = new Random();
  private final ModelClock time = new ModelClock();
  private final Versions versions = new Versions();
  private final TreeEdits edits = new TreeEdits(random, versions);
  private final ChangesByOthers byOthers = new ChangesByOthers();
  private final Map<String, Integer> counts = new TreeMap<>();
  private final SmallDisks disks = new SmallDisks();
  private final List<String> history = new ArrayList<>();

  /** What was edited while a push was on. */
  private final Set<String> touched = new HashSet<>();

  /** Nodes where a program has been ended, or will be, which a save may not have found yet. */
  private final Set<Integer> ended = ConcurrentHashMap.newKeySet();

  /** A user has decided something, which a node may finish later. */
  private boolean isForced;

  /** A commit may have ended half, which a node finishes as soon as it is asked for anything. */
  private boolean isUnfinished;

  private Manifest pushed = Manifest.empty();
  private List<HeldPath> held = List.of();
  private boolean canFill;
  private String at = "";

  @AfterEach
  void unmount() throws Exception {
    var all = new ArrayList<AutoCloseable>();
    nodes.forEach(node -> all.add(node::kill));
    all.add(disks::close);
    closeAll(all);
  }

  @Test
  void whateverHappensNothingIsLost() throws Exception {
    nothingIsLostIn(FEW, seeds().findFirst().orElseThrow());
  }

  static Stream<Long> seeds() {
    long first = Long.getLong("gpush.seed", System.nanoTime());
    return LongStream.range(first, first + SEEDS).boxed();
  }

  @ParameterizedTest
  @MethodSource("seeds")
  @Tag("sync")
  @Timeout(value = 12, unit = TimeUnit.HOURS)
  void whateverHappensForHoursNothingIsLost(long seed) throws Exception {
    nothingIsLostIn(MANY, seed);
  }

  private void nothingIsLostIn(int steps, long seed) throws Exception {
    random.setSeed(seed);
    System.out.printf(
        "SyncOracleTest seed %d, %d steps (-Dgpush.seed, -Dgpush.rounds)%n", seed, steps);
    clock = time;
    restartGateway();
    nodes(NODES);
    canFill = true;
    for (FakeNode node : nodes) {
      canFill &= disks.mount(home(node));
      Files.createDirectories(home(node).resolve("outside"));
      Files.writeString(home(node).resolve("outside/file"), OUTSIDE);
    }
    if (!canFill) {
      System.out.println("SyncOracleTest: no disk is full, because nothing can be mounted here");
    }
    Files.createDirectories(laptop.path().resolve(".git/refs"));
    Files.createDirectories(laptop.path().resolve(".git/objects"));
    laptop.write(".git/HEAD", HEAD);
    laptop.write(TreeEdits.KEPT, versions.next(3)).write(TreeEdits.RULES, versions.fixed("*.ign"));
    try {
      for (int step = 1; step <= steps; step++) {
        at = "seed " + seed + ", step " + step;
        if (step % UNTIL_CALM == 1) {
          allBecomeEqual();
        }
        step();
      }
      at = "seed " + seed + ", the end";
      allBecomeEqual();
    } catch (Exception | AssertionError failed) {
      history.forEach(System.out::println);
      throw failed;
    }
    System.out.println("SyncOracleTest: " + counts);
  }

  // ---- a step

  private void step() throws Exception {
    time.sleep(Duration.ofMillis(random.nextInt(150)));
    if (random.nextInt(20) == 0) {
      time.setBack(random.nextBoolean() ? 0 : random.nextInt(100_000));
    }
    switch (random.nextInt(20)) {
      case 0, 1, 2, 3, 4 -> work(Versions.LAPTOP);
      case 5, 6, 7, 8, 9 -> work(Versions.EDITORS);
      case 10, 11 -> work(1 + random.nextInt(NODES - 1));
      case 12 -> rank(random.nextInt(NODES));
      case 13, 14, 15 -> pushes();
      case 16, 17 -> saves();
      case 18 -> comesHome();
      default -> somethingEnds();
    }
  }

  private void work(int place) throws IOException {
    Path root = root(place);
    if (Files.isDirectory(root)) {
      Map<String, Item> before = Versions.items(root);
      for (int i = random.nextInt(3); i >= 0; i--) {
        edits.person(root);
      }
      changed(place, before, "works");
    }
  }

  private void rank(int place) throws IOException {
    if (Files.isDirectory(root(place))) {
      Map<String, Item> before = Versions.items(root(place));
      edits.rank(root(place));
      changed(place, before, "a rank works");
    }
  }

  private void changed(int place, Map<String, Item> before, String what) throws IOException {
    Map<String, Item> after = Versions.items(root(place));
    versions.changed(place, before, after);
    if (place != Versions.LAPTOP) {
      byOthers.add(Versions.differences(before, after));
    }
    String changes = Versions.changes(before, after);
    history.add(at + ": " + name(place) + " " + what + changes);
  }

  private void pushes() throws Exception {
    Trouble trouble = trouble();
    PushOptions options = options();
    World before = look();
    begin(trouble);
    End end = ended(trouble, () -> sync.push(all(), options, talk));
    isForced |= options.overwrite() || !options.kept().isEmpty();
    over(trouble);
    World after = look();
    isUnfinished = trouble != Trouble.NONE;
    String what = trouble + " push " + words(options) + end.word();
    checked(what, before, after);
    if (end.isDone()) {
      assertAreEqual(after);
      if (trouble == Trouble.NONE && !options.overwrite() && random.nextBoolean()) {
        assertNothingIsSent(after);
      }
    }
    if (trouble == Trouble.NONE && end.word().equals("Held") && options.kept().isEmpty()) {
      assertHeldAsTheyWere(before, after);
    }
    changesItsMind(trouble, before);
  }

  /** The laptop's person, about what may be half on a node that went off. */
  private void changesItsMind(Trouble trouble, World before) throws IOException {
    if (trouble == Trouble.NODE_OFF && random.nextBoolean()) {
      Map<String, Item> now = Versions.items(laptop.path());
      edits.saveOrDelete(laptop.path(), before.differences());
      changed(Versions.LAPTOP, now, "changes its mind");
    }
  }

  private static String words(PushOptions options) {
    return (options.overwrite() ? "--overwrite " : "")
        + (options.kept().isEmpty() ? "" : "--keep " + options.keep() + " " + options.kept() + " ");
  }

  private PushOptions options() {
    PushOptions usual = PushOptions.standard();
    List<HeldPath> held = sync.last().held();
    if (!held.isEmpty() && random.nextBoolean()) {
      return usual.keeping(
          new KeepRequest(
              random.nextBoolean() ? KeepRequest.Side.LAPTOP : KeepRequest.Side.NODE,
              random.nextBoolean()
                  ? List.of("")
                  : List.of(held.get(random.nextInt(held.size())).path())));
    }
    return random.nextInt(8) == 0 ? usual.overwriting() : usual;
  }

  /** As between the user's commands: perhaps to those nodes only that can be reached. */
  private void saves() throws Exception {
    Trouble trouble = trouble();
    World before = look();
    boolean check = random.nextBoolean();
    List<SyncNode> some =
        random.nextInt(4) > 0 ? all() : List.copyOf(nodes.subList(random.nextInt(2), 2));
    boolean isHomeFirst = random.nextBoolean();
    begin(trouble);
    End end =
        ended(
            trouble,
            () -> {
              sync.rescan(Optional.empty(), Set.of());
              if (isHomeFirst) {
                sync.comeHome(nodes.getFirst(), due());
                sync.rescan(Optional.empty(), Set.of());
              }
              sync.pushLooked(some, check);
            });
    over(trouble);
    // A program that an earlier step has killed may have died only now.
    isUnfinished |= trouble != Trouble.NONE || !end.isDone();
    checked(trouble + " save to " + some.size() + " " + end.word(), before, look());
    changesItsMind(trouble, before);
  }

  private NodeWatch.Due due() throws IOException {
    List<String> paths = List.copyOf(Versions.items(root(Versions.EDITORS)).keySet());
    if (paths.isEmpty() || random.nextBoolean()) {
      return NodeWatch.Due.all();
    }
    String some = paths.get(random.nextInt(paths.size()));
    String other = paths.get(random.nextInt(paths.size()));
    return new NodeWatch.Due(false, new HashSet<>(List.of(some, other)));
  }

  /** As while a run holds saves. */
  private void comesHome() throws Exception {
    Trouble trouble = trouble();
    World before = look();
    var came = new HashSet<String>();
    sync.home().listen((paths, _) -> came.addAll(paths));
    NodeWatch.Due due = due();
    begin(trouble);
    End end =
        ended(
            trouble,
            () -> {
              sync.rescan(Optional.empty(), Set.of());
              sync.comeHome(nodes.getFirst(), due);
            });
    over(trouble);
    World after = look();
    checked(trouble + " homecoming " + end.word(), before, after);
    if (trouble == Trouble.NONE && !isUnfinished) {
      for (int place = 0; place < NODES; place++) {
        assertEquals(before.of(place), after.of(place), at + ": homecoming on " + place);
      }
    }
  }

  private void somethingEnds() throws Exception {
    FakeNode node = nodes.get(random.nextInt(NODES));
    int place = node.info().index();
    switch (random.nextInt(4)) {
      case 0 -> {
        history.add(at + ": another gateway");
        anotherGateway();
        if (random.nextBoolean()) {
          sync.learn(all());
        }
      }
      case 1 -> {
        history.add(at + ": a program on " + name(place) + " is killed");
        kill(node);
      }
      case 2 -> {
        history.add(at + ": the line to " + name(place) + " is cut");
        ended.add(place);
        node.cut();
      }
      default -> {
        history.add(at + ": " + name(place) + " starts again empty");
        kill(node);
        WorkFolder.remove(node.folder().path());
        WorkFolder.remove(state(node));
        versions.emptied(place, places(look()));
      }
    }
  }

  // ---- trouble

  private Trouble trouble() {
    if (random.nextBoolean()) {
      return Trouble.NONE;
    }
    Trouble some = Trouble.values()[1 + random.nextInt(Trouble.values().length - 1)];
    return some == Trouble.DISK_FULL && !canFill ? Trouble.LINE_CUT : some;
  }

  private void begin(Trouble trouble) throws IOException {
    FakeNode victim = nodes.get(random.nextInt(NODES));
    switch (trouble) {
      case NONE -> {}
      case NODE_DIES -> {
        kill(victim); // The program may live until a later step.
        victim.dieAt = 1 + random.nextInt(MOST_CHANGES);
      }
      case NODE_OFF -> {
        kill(victim);
        victim.dieAt = -1 - random.nextInt(MOST_OF_COMMIT);
        victim.isOffThen = true;
      }
      case LINE_CUT -> cut(victim, false);
      case LINK_DOWN -> cut(victim, true);
      case GATEWAY_ENDS -> {
        // Each node has got as much of it as the gateway has written to it by then.
        for (FakeNode node : nodes) {
          if (node.equals(victim) || random.nextBoolean()) {
            cut(node, true);
          }
        }
      }
      case DISK_FULL -> disks.fill(home(victim), random.nextInt(30_000));
      case EDITED_MEANWHILE -> edit(victim);
    }
  }

  private void kill(FakeNode node) throws IOException {
    ended.add(node.info().index());
    node.kill();
  }

  private void cut(FakeNode node, boolean isForLong) {
    Runnable cut =
        () -> {
          ended.add(node.info().index());
          node.isDown = isForLong;
          node.beforePrepare = () -> {};
          node.beforeCommit = () -> {};
          unchecked(node::cut);
        };
    switch (random.nextInt(4)) {
      case 0 -> node.beforePrepare = cut;
      case 1 -> node.beforeCommit = cut;
      default ->
          node.moment.set(new FakeNode.Moment(new AtomicLong(random.nextInt(MOST_BYTES)), cut));
    }
  }

  /** A person works at a moment of the push, here or there. */
  private void edit(FakeNode victim) {
    int place = random.nextInt(3) == 0 ? Versions.LAPTOP : victim.info().index();
    var left = new AtomicInteger(1);
    Runnable edit =
        () -> {
          if (left.getAndDecrement() > 0) {
            unchecked(() -> workMeanwhile(place));
          }
        };
    if (place == Versions.LAPTOP && random.nextInt(4) == 0) {
      talk.onceAt("syncing", edit);
      return;
    }
    switch (random.nextInt(3)) {
      case 0 -> nodes.getFirst().beforePull = path -> saveOrEdit(place, path, edit);
      case 1 -> victim.beforePrepare = edit;
      default -> victim.beforeCommit = edit;
    }
  }

  /** Perhaps the file that comes home at this moment is the one that is saved. */
  private void saveOrEdit(int place, String path, Runnable edit) {
    if (random.nextBoolean()) {
      unchecked(() -> meanwhile(place, () -> edits.save(root(place), path)));
    } else {
      edit.run();
    }
  }

  private void workMeanwhile(int place) throws Exception {
    meanwhile(
        place,
        () -> {
          for (int i = 0; i < 4; i++) {
            edits.person(root(place));
          }
        });
  }

  private void meanwhile(int place, Action work) throws Exception {
    if (Files.isDirectory(root(place))) {
      Map<String, Item> before = Versions.items(root(place));
      work.run();
      changed(place, before, "works meanwhile");
      touched.addAll(Versions.differences(before, Versions.items(root(place))));
    }
  }

  private void over(Trouble trouble) throws IOException {
    for (FakeNode node : nodes) {
      node.calm();
      disks.free(home(node));
    }
    talk.onceAt("syncing", () -> {});
    if (trouble == Trouble.GATEWAY_ENDS) {
      anotherGateway();
    }
  }

  private void anotherGateway() {
    restartGateway();
    ended.clear(); // It starts other programs.
  }

  @FunctionalInterface
  private interface Action {
    void run() throws Exception;
  }

  private static void unchecked(Action action) {
    try {
      action.run();
    } catch (Exception failed) {
      throw new IllegalStateException(failed);
    }
  }

  private End ended(Trouble trouble, Action action) throws Exception {
    touched.clear();
    talk.said.clear();
    isForced &= isUnfinished;
    try {
      action.run();
      pushed = sync.pushed();
      held = sync.last().held();
      return new End("done", true);
    } catch (GpushException failed) {
      return failed(failed, trouble);
    } catch (NodeFailed failed) {
      // A save leaves that node out. Of several conversations that ended, it finds one at a time.
      boolean isFound =
          trouble == Trouble.NONE
              && failed.failure().failure() instanceof AgentFailure.LinkOver over
              && ended.remove(over.node());
      return isFound ? new End("LinkOver", false) : failed(failed.failure(), trouble);
    }
  }

  /** A user can do something about these; everything else needs the trouble. */
  private End failed(GpushException failed, Trouble trouble) {
    boolean isForUser =
        failed.failure() instanceof SyncFailure.Held
            || failed.failure() instanceof SyncFailure.NotHeld
            || failed.failure() instanceof SyncFailure.InTheWay
            || failed.failure() instanceof SyncFailure.NotPulled
            || failed.failure() instanceof UsageFailure.NobodyToAsk;
    // Each trouble costs an attempt. Without one, the next push has to get through.
    boolean isOfTrouble =
        trouble != Trouble.NONE
            && (failed.failure() instanceof SyncFailure.KeptChanging
                || failed.failure() instanceof SyncFailure.NodeCannotWrite
                || (failed.failure() instanceof AgentFailure.LinkOver over
                    && ended.contains(over.node())));
    if (!isForUser && !isOfTrouble) {
      throw new AssertionError(at + ", " + trouble + ": " + failed.failure(), failed);
    }
    return new End(failed.failure().getClass().getSimpleName(), false);
  }

  // ---- what must hold

  private void checked(String what, World before, World after) throws Exception {
    counts.merge(what.replaceAll("--keep.*\\] ", "--keep "), 1, Integer::sum);
    history.add(at + ": " + what);
    for (int place = Versions.LAPTOP; place < NODES; place++) {
      String changes = Versions.changes(before.of(place), after.of(place));
      if (!changes.isEmpty()) {
        history.add("    " + name(place) + changes);
      }
    }
    talk.said.forEach(line -> history.add("    says " + line));
    sync.last().held().forEach(each -> history.add("    held " + each.path() + ": " + each.why()));
    assertEquals(List.of(), versions.lost(places(after)), at + ": lost");
    for (int place = Versions.LAPTOP; place < NODES; place++) {
      assertEquals(List.of(), versions.unknown(after.of(place)), at + ": half on " + name(place));
      assertNothingOfOthers(place, before, after);
    }
    assertOnlyOfOthers(before, after);
    assertEquals(HEAD, Files.readString(laptop.path().resolve(".git/HEAD")), at);
    for (FakeNode node : nodes) {
      assertEquals(OUTSIDE, Files.readString(home(node).resolve("outside/file")), at);
      assertTrue(!Files.exists(node.folder().path().resolve(".git")), at + ": .git was sent");
    }
  }

  /** What gpush itself has written on a node is no edit, whatever has ended in the middle. */
  private void assertOnlyOfOthers(World before, World after) {
    Set<String> came = Versions.differences(before.laptop(), after.laptop());
    came.removeAll(touched);
    assertEquals(
        Set.of(), byOthers.unexplained(came.stream()), at + ": came home, unchanged there");
    Stream<String> held =
        sync.last().held().stream()
            .filter(each -> each.reason() != HeldPath.Reason.IN_THE_WAY)
            .map(HeldPath::path);
    assertEquals(Set.of(), byOthers.unexplained(held), at + ": held, unchanged there");
  }

  /** What is ignored, and what programs write, stays where it is and goes nowhere. */
  private void assertNothingOfOthers(int place, World before, World after) {
    for (String path : Versions.differences(before.of(place), after.of(place))) {
      // A user has decided for the one side's file where the other has a folder with it.
      boolean isDecided = isForced && after.of(place).containsKey(path) == (place < 0);
      assertTrue(
          TreeEdits.isMoved(path) || touched.contains(path) || isDecided,
          () -> at + ": " + path + " on " + name(place));
    }
  }

  private void assertAreEqual(World after) throws Exception {
    var others = new HashSet<>(touched);
    held.forEach(each -> others.add(each.path())); // It is decided later.
    Map<String, Item> here = new TreeMap<>(after.of(Versions.LAPTOP));
    here.keySet().removeIf(path -> !TreeEdits.isMoved(path) || others.contains(path));
    here.values().removeIf(item -> item.isLink() && item.text().startsWith("/"));
    Set<String> sent = new TreeSet<>(pushed.entries().keySet());
    sent.removeAll(others);
    assertEquals(here.keySet(), sent, at + ": sent");
    for (FakeNode node : nodes) {
      Map<String, Item> there = new TreeMap<>(after.of(node.info().index()));
      there.keySet().retainAll(here.keySet());
      assertEquals(here, there, at + ": " + name(node.info().index()));
      Set<String> stay =
          versions.sent(node.info().index(), there, after.of(node.info().index()), others);
      assertEquals(Set.of(), stay, at + ": deleted, but still on " + name(node.info().index()));
      Set<String> left = new TreeSet<>(after.of(node.info().index()).keySet());
      left.removeAll(here.keySet());
      left.removeAll(others);
      left = byOthers.unexplained(left.stream());
      assertEquals(Set.of(), left, at + ": only on " + name(node.info().index()));
    }
    Set<String> generations = Set.copyOf(generations());
    assertEquals(1, generations.size(), at + ": " + generations);
    assertTrue(generations.iterator().next().endsWith(" " + pushed.root()), at + generations);
  }

  /** Unless something comes home only now: a folder that has the place of a file, for one. */
  private void assertNothingIsSent(World before) throws Exception {
    List<String> generations = generations();
    ended(Trouble.NONE, () -> sync.push(all(), PushOptions.standard(), talk));
    World after = look();
    if (after.of(Versions.LAPTOP).equals(before.of(Versions.LAPTOP))) {
      assertEquals(before, after, at + ": the same was sent again");
      assertEquals(generations, generations(), at + ": the same was sent again");
    }
  }

  private List<String> generations() throws IOException {
    var generations = new ArrayList<String>();
    for (FakeNode node : nodes) {
      generations.add(Files.readString(state(node).resolve("generation")).strip());
    }
    return generations;
  }

  private void assertHeldAsTheyWere(World before, World after) {
    for (HeldPath held : sync.last().held()) {
      String path = held.path();
      switch (held.reason()) {
        case CHANGED_BOTH, DELETED_HERE, DELETED_THERE -> {
          assertSame(Versions.LAPTOP, path, before, after);
          assertSame(held.node(), path, before, after);
        }
        case OTHER_NODE, CANNOT_COME -> assertSame(held.node(), path, before, after);
        case IN_THE_WAY, STAYS_THERE -> {}
      }
    }
  }

  private void assertSame(int place, String path, World before, World after) {
    assertEquals(
        before.of(place).get(path), after.of(place).get(path), () -> at + ": held " + path);
  }

  /** The trouble is over: a user who says what to do has the same everywhere. */
  private void allBecomeEqual() throws Exception {
    time.setBack(0);
    time.sleep(Duration.ofDays(1).plusSeconds(1)); // so that new files may come again
    talk.answer = FakeTalk.Answer.YES;
    World before = look();
    if (random.nextBoolean()) {
      decideAll(random.nextBoolean() ? KeepRequest.Side.LAPTOP : KeepRequest.Side.NODE);
    }
    Generation same = overwritten();
    talk.answer = FakeTalk.Answer.NOBODY;
    pushed = sync.pushed();
    held = List.of();
    isForced = true;
    touched.clear();
    World after = look();
    checked("all is decided", before, after);
    assertAreEqual(after);
    String generation = same.counter() + " " + same.root();
    assertEquals(Collections.nCopies(NODES, generation), generations(), at);
    for (FakeNode node : nodes) {
      WorkFolder.remove(state(node).resolve("trash"));
    }
    WorkFolder.remove(base.resolve("trash"));
    history.clear();
    byOthers.since(after);
    versions.retain(after.trees(), edits.remembered());
  }

  /** What cannot be decided like that stays held. */
  private void decideAll(KeepRequest.Side side) throws InterruptedException {
    try {
      sync.push(all(), PushOptions.standard().keeping(new KeepRequest(side, List.of(""))), talk);
    } catch (GpushException held) {
      failed(held, Trouble.NONE);
    }
  }

  /** What comes home from node 0 may be in the way of what another has, so once is not enough. */
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

  // ---- places

  private Path root(int place) {
    return place == Versions.LAPTOP ? laptop.path() : nodes.get(place).folder().path();
  }

  private static String name(int place) {
    return place == Versions.LAPTOP ? "the laptop" : "node " + place;
  }

  private World look() throws IOException {
    var trees = new HashMap<Integer, Map<String, Item>>();
    for (int place = Versions.LAPTOP; place < NODES; place++) {
      trees.put(place, Versions.items(root(place)));
    }
    return new World(trees);
  }

  /** The texts of each place, and of its trash. */
  private Map<Integer, Set<String>> places(World world) throws IOException {
    var places = new HashMap<Integer, Set<String>>();
    for (int place = Versions.LAPTOP; place < NODES; place++) {
      Path trash =
          place == Versions.LAPTOP
              ? base.resolve("trash")
              : state(nodes.get(place)).resolve("trash");
      Map<String, Item> kept = Versions.items(trash);
      assertEquals(List.of(), versions.unknown(kept), at + ": half in the trash of " + name(place));
      Set<String> texts = Versions.texts(world.of(place).values());
      texts.addAll(Versions.texts(kept.values()));
      places.put(place, texts);
    }
    return places;
  }

  private static Path home(FakeNode node) {
    return node.folder().path().getParent();
  }
}
