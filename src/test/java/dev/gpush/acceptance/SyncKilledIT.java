package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Files are edited on the laptop and on node 0 while the gateway, the agents, their programs and
 * commands are killed at seeded moments. After each kill all sides agree, no file is half of two
 * versions, and each line that was saved is in a tree or in a trash.
 */
@Timeout(7200)
@Tag("sync")
final class SyncKilledIT {
  private static final int KILLS = Integer.getInteger("gpush.kills", 500);
  private static final int FILES = 12;

  /** A save is on all nodes by then, on a machine at rest. */
  private static final int LATEST_MS = 400;

  /** A guard gives its node up when more agents die in this time ({@code host/guard.py}) … */
  private static final int MOST_DEATHS = 5;

  /** … and counts from their deaths, which may be later than the kill. */
  private static final Duration DEATHS = Duration.ofMinutes(5).plusSeconds(30);

  private enum Kill {
    GATEWAY(true, List.of(), List.of()),
    AGENT_0(false, List.of(0), List.of()),
    AGENT_1(false, List.of(1), List.of()),
    GATEWAY_AND_AGENT_0(true, List.of(0), List.of()),
    BOTH_AGENTS(false, List.of(0, 1), List.of()),
    PROGRAM_0(false, List.of(), List.of(0)),
    PROGRAM_1(false, List.of(), List.of(1)),
    GATEWAY_AND_PROGRAM_0(true, List.of(), List.of(0)),
    COMMAND(false, List.of(), List.of());

    private final boolean isOfGateway;

    /** The nodes whose agents are killed. */
    private final List<Integer> agents;

    /** The nodes of which a child of the agent is killed, such as the program for files. */
    private final List<Integer> programs;

    Kill(boolean isOfGateway, List<Integer> agents, List<Integer> programs) {
      this.isOfGateway = isOfGateway;
      this.agents = agents;
      this.programs = programs;
    }
  }

  private final Random random;
  private final World world;
  private final List<Path> trees = new ArrayList<>();

  /** When the agents of a node were killed lately, the first one first. */
  private final Map<Integer, Deque<Long>> deaths =
      Map.of(0, new ArrayDeque<>(), 1, new ArrayDeque<>());

  private final Map<Kill, Integer> counts = new EnumMap<>(Kill.class);

  /** Each content that a file was given. */
  private final Set<String> versions = new HashSet<>();

  /** The lines that were saved, without those of files that their owner deleted. */
  private final Set<String> saved = new TreeSet<>();

  private int lines;

  SyncKilledIT() throws IOException {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.err.println(
        "SyncKilledIT seed " + seed + ", " + KILLS + " kills (-Dgpush.seed, -Dgpush.kills)");
    this.random = new Random(seed);
    this.world = World.fresh();
  }

  @Test
  void noSaveIsLost() throws Exception {
    try (world) {
      for (int file = 0; file < FILES; file++) {
        edit(world.project(), file);
      }
      world.gpush("up", "--nodes", "2").succeeded();
      trees.add(world.project());
      for (Json node : world.json("nodes", "--json").items()) {
        trees.add(Path.of(node.text("workspace").orElseThrow()));
      }
      for (int number = 0; number < KILLS; number++) {
        Kill how = kill();
        counts.merge(how, 1, Integer::sum);
        String where = "kill " + number + ": " + how;
        System.err.println(where);
        work();
        killed(how);
        work();
        settled(where);
        isWhole(where);
      }
      System.err.println("SyncKilledIT: " + counts);
      // What was decided against is kept after the end of a session, too.
      world.gpush("exec", "--all", "rm -rf ../*.gpush/trash").succeeded();
      world.gpush("down", "--discard").succeeded();
    }
  }

  /** Another one where the guard of a node would not start an agent again. */
  private Kill kill() {
    long now = System.nanoTime();
    deaths.values().forEach(all -> all.removeIf(death -> now - death > DEATHS.toNanos()));
    List<Kill> possible =
        Stream.of(Kill.values())
            .filter(each -> each.agents.stream().allMatch(node -> deathsOf(node) < MOST_DEATHS))
            .toList();
    return possible.get(random.nextInt(possible.size()));
  }

  private int deathsOf(int node) {
    return Objects.requireNonNull(deaths.get(node)).size();
  }

  private void work() throws Exception {
    for (int left = random.nextInt(5); left > 0; left--) {
      Path side = trees.get(random.nextInt(2));
      if (random.nextInt(12) == 0) {
        delete(side, random.nextInt(FILES));
      } else {
        edit(side, random.nextInt(FILES));
      }
      passes(random.nextInt(50));
    }
  }

  private static Path file(Path tree, int number) {
    return tree.resolve("src" + number % 3).resolve("m" + number + ".py");
  }

  /** As an editor does: what is there and one line more, in place or through a second file. */
  private void edit(Path tree, int number) throws IOException {
    Path file = file(tree, number);
    String line = (trees.isEmpty() || tree.equals(trees.getFirst()) ? "here " : "there ") + lines++;
    String text = text(file).orElse("") + line + "\n";
    versions.add(text);
    saved.add(line);
    Files.createDirectories(file.resolveSibling("."));
    if (random.nextBoolean()) {
      Files.writeString(file, text);
    } else {
      Path beside = file.resolveSibling(file.getFileName() + "~");
      Files.writeString(beside, text);
      Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  private void delete(Path tree, int number) throws IOException {
    text(file(tree, number)).ifPresent(text -> text.lines().forEach(saved::remove));
    Files.deleteIfExists(file(tree, number));
  }

  private static Optional<String> text(Path file) throws IOException {
    try {
      return Optional.of(Files.readString(file));
    } catch (NoSuchFileException gone) {
      return Optional.empty();
    }
  }

  private void killed(Kill how) throws Exception {
    List<Long> agents =
        world.json("nodes", "--json").items().stream()
            .map(node -> node.number("agent_pid").orElseThrow())
            .toList();
    long gateway = world.gatewayPid();
    Optional<Process> command =
        how == Kill.COMMAND || random.nextInt(3) == 0
            ? Optional.of(world.startGpush("sync", "--yes"))
            : Optional.empty();
    passes(random.nextInt(LATEST_MS));
    if (how.isOfGateway) {
      ProcessHandle.of(gateway).ifPresent(ProcessHandle::destroyForcibly);
    }
    for (int node : how.agents) {
      Objects.requireNonNull(deaths.get(node)).add(System.nanoTime());
      ProcessHandle.of(agents.get(node)).ifPresent(ProcessHandle::destroyForcibly);
    }
    for (int node : how.programs) {
      List<ProcessHandle> programs =
          ProcessHandle.of(agents.get(node)).stream().flatMap(ProcessHandle::children).toList();
      if (!programs.isEmpty()) {
        programs.get(random.nextInt(programs.size())).destroyForcibly();
      }
    }
    if (command.isPresent()) {
      if (how == Kill.COMMAND) {
        command.get().destroyForcibly();
      }
      World.read(command.get().getInputStream());
      World.read(command.get().getErrorStream());
      command.get().waitFor();
    }
  }

  private static void passes(int milliseconds) throws Exception {
    new CompletableFuture<Void>()
        .completeOnTimeout(null, milliseconds, TimeUnit.MILLISECONDS)
        .get();
  }

  /** As people do: they decide what is held, for one side or the other. */
  private void settled(String where) throws Exception {
    World.until(
        where + ": all have the same",
        () -> {
          try {
            world.gpush("sync", "--yes");
            Json status = world.json("sync", "status", "--json");
            for (Json each : status.items("versions")) {
              String side = random.nextBoolean() ? "laptop" : "node";
              world.gpush("sync", "--keep", side, each.text("path").orElseThrow());
            }
            return status.flag("synced")
                && status.items("versions").isEmpty()
                && status.items("held").isEmpty();
          } catch (Exception failed) {
            throw new AssertionError(failed);
          }
        });
  }

  private void isWhole(String where) throws IOException {
    Map<String, String> here = tree(trees.getFirst());
    for (Path other : trees) {
      assertEquals(here, tree(other), where + ", in " + other);
    }
    here.forEach((name, text) -> assertTrue(versions.contains(text), where + ": " + name + text));
    var lost = new TreeSet<>(saved);
    for (Path root : List.of(world.project(), world.home())) {
      try (Stream<Path> files = Files.walk(root)) {
        for (Path file : files.filter(each -> each.toString().endsWith(".py")).toList()) {
          Files.readString(file, StandardCharsets.ISO_8859_1).lines().forEach(lost::remove);
        }
      }
    }
    assertEquals(Set.of(), lost, where + ": lines in no tree and in no trash");
    // What is in a trash only leaves it again, when a hundred others have been put there since.
    saved.retainAll(here.values().stream().flatMap(String::lines).toList());
  }

  private static Map<String, String> tree(Path root) throws IOException {
    var found = new TreeMap<String, String>();
    for (int number = 0; number < FILES; number++) {
      Path file = file(root, number);
      text(file).ifPresent(text -> found.put(root.relativize(file).toString(), text));
    }
    return found;
  }
}
