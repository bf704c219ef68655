package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A launch that is killed at a seeded step: afterwards, and after {@code gpush stop} where its
 * ranks were to go on, nothing of it is left on the nodes, and the next launch gets all slots.
 */
@Timeout(3600)
@Tag("chaos")
final class LaunchesKilledIT {
  /** {@code -Dgpush.kills=N} for the long form. */
  private static final int KILLS =
      Integer.getInteger("gpush.kills", Boolean.getBoolean("gpush.long") ? 100 : 8);

  /** Two folders of a run, two ranks and their two daemons: see {@link #traces}. */
  private static final int TRACES = 6;

  /** Each rank has a child in a session of its own and shared memory, as data loaders have. */
  private static final String RANK =
      """
      import os, sys, time

      def here(what):
          with open("%s/%d" % (os.environ["MEET"], os.getpid()), "w") as file:
              file.write(what)

      here("rank " + os.environ["RANK"])
      with open("/dev/shm/torch_%d_gpush" % os.getpid(), "w") as file:
          file.write("x" * 100)
      if os.fork() == 0:
          os.setsid()
          if os.fork() == 0:
              here("daemon of rank " + os.environ["RANK"])
          time.sleep(100000)
      print("rank", os.environ["RANK"], flush=True)
      time.sleep(100000)
      """;

  /** What is killed, and how. */
  private enum Kill {
    CTRL_C,
    CLOSED_TERMINAL,
    CLIENT,
    GATEWAY,
    RANK,
    SUPERVISOR
  }

  private final World world;
  private final Path meet;
  private final Random random;

  LaunchesKilledIT() throws IOException {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.err.println(
        "LaunchesKilledIT seed " + seed + ", " + KILLS + " kills (-Dgpush.seed, -Dgpush.kills)");
    this.random = new Random(seed);
    this.world = World.fresh();
    this.meet = Files.createDirectories(world.project().resolveSibling("meet"));
  }

  @Test
  void nothingOfThemIsLeft() throws Exception {
    try (world) {
      world.file("gpush.yaml", "env: {MEET: " + meet + "}\nrun: {grace: 2s}\n");
      world.file("rank.py", RANK);
      world.gpush("up", "--nodes", "2").succeeded();
      for (int number = 0; number < KILLS; number++) {
        Kill how = Kill.values()[random.nextInt(Kill.values().length)];
        int step = random.nextInt(TRACES + 1);
        String where = "kill " + number + ": " + how + " at step " + step;
        System.err.println(where);
        killed(how, step);
        isClean(where);
      }
      Result last =
          world.gpush("run", "--nodes", "2", "sh", "-c", "echo slots of $GPUSH_NODE").succeeded();
      assertEquals(2, last.out().lines().count(), last::toString);
    }
  }

  /** What a launch leaves on the nodes, one after the other. */
  private Set<Path> traces() {
    var traces = new HashSet<>(World.inside(meet));
    for (Path gang : World.inside(world.home().resolve("nodes"))) {
      World.inside(gang)
          .forEach(node -> traces.addAll(World.inside(node.resolve("proj.gpush/runs"))));
    }
    return traces;
  }

  private boolean has(Set<Path> before, int step) {
    Set<Path> traces = traces();
    traces.removeAll(before);
    return traces.size() >= step;
  }

  private void killed(Kill how, int step) throws Exception {
    world.gpush("ps").succeeded();
    Set<Path> before = traces();
    long gateway = world.gatewayPid();
    Process client = world.startGpush("run", "--nodes", "2", "rank.py");
    CompletableFuture<byte[]> out = World.read(client.getInputStream());
    CompletableFuture<byte[]> err = World.read(client.getErrorStream());
    World.until("step " + step, () -> !client.isAlive() || has(before, step));
    switch (how) {
      case CTRL_C -> World.signal("INT", List.of(client.pid()));
      case CLOSED_TERMINAL -> World.signal("HUP", List.of(client.pid()));
      case CLIENT -> client.destroyForcibly();
      case GATEWAY -> {
        ProcessHandle process = ProcessHandle.of(gateway).orElseThrow();
        process.destroyForcibly();
        process.onExit().get();
        // A client that had not asked yet asks the next gateway.
        World.until("an end or a rank", () -> !client.isAlive() || isRankThere());
        World.signal("INT", List.of(client.pid()));
      }
      case RANK -> ranks().stream().findAny().ifPresent(ProcessHandle::destroyForcibly);
      case SUPERVISOR ->
          ranks().stream()
              .findAny()
              .flatMap(ProcessHandle::parent)
              .filter(parent -> parent.pid() != gateway)
              .ifPresent(ProcessHandle::destroyForcibly);
    }
    if (how == Kill.RANK || how == Kill.SUPERVISOR) {
      // There may have been no rank yet.
      World.signal("INT", List.of(client.pid()));
    }
    client.waitFor();
    out.join();
    err.join();
  }

  /** The ranks that live now, without their children. */
  private List<ProcessHandle> ranks() throws IOException {
    return met().entrySet().stream()
        .filter(each -> each.getValue().startsWith("rank"))
        .flatMap(each -> ProcessHandle.of(each.getKey()).stream())
        .toList();
  }

  private boolean isRankThere() {
    try {
      return !ranks().isEmpty();
    } catch (IOException failed) {
      throw new AssertionError(failed);
    }
  }

  /** All that has said its number in a file. */
  private Map<Long, String> met() throws IOException {
    var met = new TreeMap<Long, String>();
    try (Stream<Path> files = Files.list(meet)) {
      for (Path file : files.toList()) {
        met.put(Long.parseLong(file.getFileName().toString()), Files.readString(file));
      }
    }
    return met;
  }

  /**
   * Ranks go on without their terminal and without a gateway: those are stopped as a user would.
   */
  private boolean isOver() {
    try {
      List<Json> inProgress =
          world.json("runs", "--json").items().stream().filter(run -> !isOver(run)).toList();
      for (Json run : inProgress) {
        world.gpush("stop", "" + run.number("run").orElseThrow());
      }
      return inProgress.isEmpty();
    } catch (Exception failed) {
      throw new AssertionError(failed);
    }
  }

  private static boolean isOver(Json run) {
    return List.of("done", "failed", "stopped", "lost").contains(run.text("state").orElse(""));
  }

  private void isClean(String where) throws Exception {
    World.until(where + ": every run is over", this::isOver);
    World.until(() -> where + ": no process is left " + left(), () -> left().isEmpty());
    for (Json node : world.json("nodes", "--json").items()) {
      assertEquals(0L, node.number("claimed").orElseThrow(), where + ": " + node.write());
    }
  }

  private List<String> left() {
    var left = new ArrayList<String>();
    try {
      for (Map.Entry<Long, String> each : met().entrySet()) {
        if (command(each.getKey()).contains("rank.py")) {
          left.add(each.getValue() + ", pid " + each.getKey());
        }
        if (Files.exists(Path.of("/dev/shm/torch_" + each.getKey() + "_gpush"))) {
          left.add("/dev/shm of " + each.getValue());
        }
      }
    } catch (IOException failed) {
      throw new AssertionError(failed);
    }
    return left;
  }

  private static String command(long pid) {
    try {
      return Files.readString(Path.of("/proc", "" + pid, "cmdline"));
    } catch (IOException ended) {
      return "";
    }
  }
}
