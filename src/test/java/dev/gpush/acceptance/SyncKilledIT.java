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
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
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
 * People edit on the laptop and on node 0 while the gateway and the agents are killed at seeded
 * moments. After each kill all sides agree, no file is half of two versions, and each line that
 * somebody saved is in a tree or in a trash.
 */
@Timeout(7200)
@Tag("sync")
final class SyncKilledIT {
  private static final int KILLS = Integer.getInteger("gpush.kills", 500);
  private static final int FILES = 12;

  /** A save is on all nodes by then, on a machine at rest. */
  private static final int LATEST_MS = 400;

  private enum Kill {
    GATEWAY,
    NODE_0,
    NODE_1,
    GATEWAY_AND_NODE_0
  }

  private final Random random;
  private final World world;
  private final List<Path> trees = new ArrayList<>();

  /** Whatever somebody has saved as a whole file. */
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
        Kill how = Kill.values()[random.nextInt(Kill.values().length)];
        String where = "kill " + number + ": " + how;
        System.err.println(where);
        work();
        killed(how);
        work();
        settled(where);
        isWhole(where);
      }
      world.gpush("down", "--discard").succeeded();
    }
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
    List<Json> nodes = world.json("nodes", "--json").items();
    long gateway = world.gatewayPid();
    Optional<Process> command =
        random.nextInt(3) == 0 ? Optional.of(world.startGpush("sync", "--yes")) : Optional.empty();
    passes(random.nextInt(LATEST_MS));
    var victims = new ArrayList<Long>();
    if (how != Kill.NODE_0 && how != Kill.NODE_1) {
      victims.add(gateway);
    }
    if (how != Kill.GATEWAY) {
      victims.add(nodes.get(how == Kill.NODE_1 ? 1 : 0).number("agent_pid").orElseThrow());
    }
    for (long victim : victims) {
      ProcessHandle.of(victim).ifPresent(ProcessHandle::destroyForcibly);
    }
    if (command.isPresent()) {
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

  /** As the people would: they decide what is held, for one side or the other. */
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
