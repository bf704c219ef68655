package dev.gpush.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.session.UpRequest;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** One schedule on a home of its own, from the first up to nothing left. */
final class Run {
  /** Ends a run that hangs; no machine that works is so slow. */
  private static final Duration DEADLINE = Duration.ofMinutes(4);

  private static final Duration PATIENCE = Duration.ofSeconds(15);
  private static final Duration IDLE = Duration.ofSeconds(2);
  private static final long LATE_MILLIS = 1500;

  private final Scene scene;
  private final Schedule schedule;
  private final Path home;
  private final Path project;
  private final String owner;
  private final String where;
  private final Counts counts;
  private final int before;
  private int lives;

  /** As they were when nothing was wrong. */
  private List<SessionState> settled = List.of();

  /**
   * @param owner whom the gangs belong to
   * @param where what is said of it when it fails
   */
  Run(Scene scene, Schedule schedule, Path folder, String owner, String where, Counts counts)
      throws IOException {
    this.scene = scene;
    this.schedule = schedule;
    this.owner = owner;
    this.where = where;
    this.counts = counts;
    this.home = Files.createDirectories(folder.resolve("home"));
    this.project = Files.createDirectories(folder.resolve("proj"));
    this.before = scene.asked().size();
    Files.writeString(project.resolve("train.py"), "print('hello')\n");
    Files.writeString(project.resolve("gpush.yaml"), "# a workspace of a test\n");
  }

  private Life life(int last, int loses, Map<Integer, Life.Happening> happenings)
      throws IOException {
    return new Life(scene, home, owner, lives++, last, loses, happenings);
  }

  private List<GangRequest> asked() {
    return scene.asked().subList(before, scene.asked().size());
  }

  void toItsEnd() throws Exception {
    first();
    if (schedule.recoversUntil() != Schedule.NEVER) {
      try (Life second = life(schedule.recoversUntil(), Schedule.NEVER, Map.of())) {
        recovers(second);
      }
    }
    if (!schedule.isHealedLate()) {
      scene.heal();
    }
    try (Life last = life(Schedule.NEVER, Schedule.NEVER, Map.of())) {
      last.service().recover();
      if (schedule.isHealedLate()) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(LATE_MILLIS));
        scene.heal();
      }
      if (schedule.isAskedAgain()) {
        await(last, last.tasks().fork("up", () -> up(last, Duration.ofHours(1))), DEADLINE);
      }
      until("every gang is in a session, and none has two", () -> wrong(last).isEmpty(), last);
      outcomes();
      giveAllBack(last);
      until("nothing is there any more", () -> left().isEmpty(), last);
      assertEquals(Map.of(), ledger(), where);
      assertEquals(
          List.of(),
          last.service().doctor().stream()
              .filter(finding -> finding.status().equals("bad"))
              .map(Sessions.Finding::detail)
              .toList(),
          where);
    }
  }

  private void first() throws Exception {
    var happenings = new HashMap<Integer, Life.Happening>();
    var box = new ArrayList<Life>();
    for (Schedule.Strike strike : schedule.strikes()) {
      happenings.put(strike.moment(), () -> scene.strike(strike.fault(), box.getFirst()));
    }
    try (Life life = life(schedule.last(), schedule.loses(), happenings)) {
      box.add(life);
      Duration idle = schedule.expires() ? IDLE : Duration.ofHours(1);
      boolean isInTime =
          await(life, life.tasks().fork("life", () -> upAndPerhapsDown(life, idle)), PATIENCE);
      // What nobody has claimed before its user lost patience stays for longer than the lease.
      if (schedule.expires() && isInTime) {
        life.die();
        until("the lease is over and all is gone", () -> there().isEmpty(), life);
      }
      assertEquals(List.of(), life.problems(), where);
      counts.add("moments", life.count());
    }
  }

  private SessionView upAndPerhapsDown(Life life, Duration idle) throws InterruptedException {
    SessionView view = up(life, idle);
    life.moment();
    if (schedule.isDown()) {
      life.service().down(view.name(), true, life.talk());
      life.moment();
    }
    return view;
  }

  private SessionView up(Life life, Duration idle) throws InterruptedException {
    Optional<GpuRequest> gpus = Optional.of(GpuRequest.parse(scene.gpus()));
    UpRequest request =
        UpRequest.of(project, Map.of())
            .wanting(UpRequest.Wanted.asConfigured().size(Optional.of(schedule.nodes()), gpus))
            .leased(new UpRequest.Lease(Optional.empty(), Optional.of(idle)))
            .onExisting(UpRequest.Existing.REPLACE_AND_DISCARD);
    return life.service().up(request, life.talk());
  }

  /** Until it is done, dead, or has waited so long that its user kills it. */
  private boolean await(Life life, Task<?, ?> work, Duration patience) throws Exception {
    long end = System.nanoTime() + patience.toNanos();
    while (!work.isDone() && !life.isDead() && System.nanoTime() < end) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
    if (!work.isDone()) {
      counts.add(life.isDead() ? "killed" : "given up");
      life.die();
      return false;
    }
    try {
      work.get();
      counts.add("done");
    } catch (Exception | Error ended) {
      boolean isExpected = life.isDead() || ended instanceof GpushException;
      if (!isExpected) {
        throw new AssertionError(where, ended);
      }
      counts.add(life.isDead() ? "killed" : "refused");
    }
    return true;
  }

  private void recovers(Life life) throws Exception {
    try {
      life.service().recover();
    } catch (Life.Killed atOnce) {
      return;
    }
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!life.isDead() && System.nanoTime() < end && !isSettled(life)) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
  }

  private static boolean isSettled(Life life) {
    return life.service().list().stream().map(SessionView::state).allMatch(Run::isSettled);
  }

  private static boolean isSettled(SessionState state) {
    return switch (state) {
      case READY, DEGRADED, LEAKED, QUEUED, RELEASED -> true;
      case ASKED, GRANTED, RELEASING -> false;
    };
  }

  // ---- what is there, and what should be

  private Map<String, List<String>> there() throws Exception {
    var found = new TreeMap<String, List<String>>();
    for (GangRequest request : asked()) {
      List<String> of = scene.there(request.gang(), request.nodes());
      if (!of.isEmpty()) {
        found.put(request.gang().text(), of);
      }
    }
    return found;
  }

  /** Entries that are not over: gang and state. */
  private Map<String, String> ledger() throws IOException {
    var entries = new TreeMap<String, String>();
    Path folder = home.resolve("ledger");
    if (!Files.isDirectory(folder)) {
      return entries;
    }
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".json")).toList()) {
        Json entry = Json.parse(Files.readString(file));
        String state = entry.text("state").orElse("");
        if (!state.equals(SessionState.RELEASED.word())) {
          entries.put(entry.text("gang").orElse(""), state);
        }
      }
    }
    return entries;
  }

  /** What contradicts the promise, in words; empty when all is as it should be. */
  private List<String> wrong(Life life) throws Exception {
    List<SessionView> sessions = life.service().list();
    settled = sessions.stream().map(SessionView::state).toList();
    if (!settled.stream().allMatch(Run::isSettled)) {
      return List.of("not settled: " + sessions);
    }
    Map<String, List<String>> there = there();
    Set<String> known = ledger().keySet();
    var wrong = new ArrayList<String>();
    there.forEach(
        (gang, what) -> {
          if (!known.contains(gang)) {
            wrong.add("forgotten " + gang + ": " + what);
          }
          if (what.stream().filter(word -> word.startsWith("job ")).count() > 1) {
            wrong.add("two jobs: " + what);
          }
        });
    if (there.size() > 1 || sessions.size() > 1) {
      wrong.add("two gangs: " + there + ", sessions " + sessions);
    }
    for (SessionView view : sessions) {
      long agents =
          there.values().stream()
              .flatMap(List::stream)
              .filter(word -> word.startsWith("agent "))
              .count();
      if (view.state() == SessionState.READY && agents != view.nodes().size()) {
        wrong.add(view.name() + " is ready with " + there);
      }
    }
    return wrong;
  }

  private List<String> left() throws Exception {
    var left = new ArrayList<String>();
    there().forEach((gang, what) -> left.add(gang + ": " + what));
    if (left.isEmpty()) {
      for (GangRequest request : asked()) {
        left.addAll(scene.leftovers(request.gang(), request.nodes()));
      }
    }
    return left;
  }

  private void outcomes() {
    if (settled.isEmpty()) {
      counts.add("-> released");
    }
    settled.forEach(state -> counts.add("-> " + state.word()));
  }

  private void giveAllBack(Life life) throws InterruptedException {
    long end = System.nanoTime() + DEADLINE.toNanos();
    while (!life.service().list().isEmpty()) {
      assertTrue(System.nanoTime() < end, () -> where + ": " + life.service().list());
      for (SessionView view : life.service().list()) {
        try {
          life.service().down(view.name(), true, Talk.silent());
        } catch (GpushException leaked) {
          // Asked again.
        }
      }
    }
  }

  private interface Statement {
    boolean holds() throws Exception;
  }

  private void until(String what, Statement statement, Life life) throws Exception {
    long end = System.nanoTime() + DEADLINE.toNanos();
    while (!statement.holds()) {
      if (System.nanoTime() > end) {
        throw new AssertionError(
            "never so: %s; %s; there %s; ledger %s; left %s; %s"
                .formatted(what, where, there(), ledger(), left(), life.service().list()));
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
    }
  }
}
