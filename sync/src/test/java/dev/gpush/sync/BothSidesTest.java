package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.UsageFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;

/**
 * Random work here and in an editor on node 0 at the same time: whatever a push does with it, each
 * content that was at a path is at one, or in a trash. Contents are never the same twice.
 */
final class BothSidesTest extends SyncFixture {
  private static final int ROUNDS = 12;
  private static final int PATHS = 14;
  private static final String KEPT = "kept.py";

  private int written;

  @RepeatedTest(3)
  void nothingThatWasMadeOnEitherSideIsLost() throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    var random = new Random(seed);
    nodes(2);
    laptop.write(KEPT, next()); // An empty workspace is asked about.
    for (int i = 0; i < PATHS; i++) {
      laptop.write(path(random), next());
    }
    push();
    for (int round = 0; round < ROUNDS; round++) {
      Map<String, String> sent = new HashMap<>(pushed());
      change(laptop.path(), random);
      change(nodes.getFirst().folder().path(), random);
      Map<String, String> here = contents(laptop.path());
      Map<String, String> there = contents(nodes.getFirst().folder().path());

      boolean isPushed = isPushed(random.nextInt(4) == 0);

      String at = "seed " + seed + ", round " + round + (isPushed ? ", pushed" : ", held");
      Set<String> kept = kept();
      for (Map<String, String> side : List.of(here, there)) {
        side.forEach(
            (path, text) ->
                assertTrue(
                    kept.contains(text) || mayGo(path, text, sent, here, there),
                    () -> at + ": " + text + " of " + path + " is lost; " + here + there));
      }
    }
    sync.push(all(), PushOptions.standard().overwriting(), talk);
    push();
    assertEquals(contents(laptop.path()), contents(nodes.get(1).folder().path()), "seed " + seed);
  }

  /**
   * What was sent goes when its user has changed it, on the one side or the other, or has deleted
   * it here; what was deleted there is kept in the trash.
   */
  private static boolean mayGo(
      String path,
      String text,
      Map<String, String> sent,
      Map<String, String> here,
      Map<String, String> there) {
    if (!text.equals(sent.get(path))) {
      return false;
    }
    boolean isChangedHere = !text.equals(here.get(path));
    boolean isEditedThere = there.containsKey(path) && !text.equals(there.get(path));
    return isChangedHere || isEditedThere;
  }

  private boolean isPushed(boolean isOverwriting) throws InterruptedException {
    PushOptions usual = PushOptions.standard();
    try {
      sync.push(all(), isOverwriting ? usual.overwriting() : usual, talk);
      return true;
    } catch (GpushException held) {
      assertTrue(
          held.failure() instanceof SyncFailure.Held
              || held.failure() instanceof UsageFailure.NobodyToAsk,
          held::toString);
      return false;
    }
  }

  private Map<String, String> pushed() throws InterruptedException, IOException {
    // Everything that is sent is a file; its content is that of the last push that was done.
    var found = new HashMap<String, String>();
    for (String path : sync.pushed().entries().keySet()) {
      Path file = nodes.get(1).folder().path().resolve(path);
      if (Files.isRegularFile(file)) {
        found.put(path, Files.readString(file));
      }
    }
    return found;
  }

  private String next() {
    written++;
    return "text " + written;
  }

  private static String path(Random random) {
    String folder = List.of("", "", "src/", "src/deep/", "lib/").get(random.nextInt(5));
    return folder + "f" + random.nextInt(PATHS) + ".py";
  }

  private void change(Path root, Random random) throws IOException {
    int steps = random.nextInt(4);
    for (int i = 0; i < steps; i++) {
      List<String> names = new ArrayList<>(contents(root).keySet());
      names.sort(null);
      names.remove(KEPT);
      String some = names.isEmpty() ? path(random) : names.get(random.nextInt(names.size()));
      Path file = root.resolve(random.nextInt(3) == 0 ? path(random) : some);
      switch (random.nextInt(6)) {
        case 0 -> Files.deleteIfExists(root.resolve(some));
        case 1 -> {
          Path to = root.resolve(path(random));
          if (Files.exists(root.resolve(some)) && !Files.exists(to)) {
            Files.createDirectories(to.getParent());
            Files.move(root.resolve(some), to);
          }
        }
        case 2 -> {
          if (random.nextInt(4) == 0) {
            for (String name : names.subList(0, names.size() * 2 / 3)) {
              Files.delete(root.resolve(name));
            }
          }
        }
        default -> {
          Files.createDirectories(file.getParent());
          Files.writeString(file, next());
        }
      }
    }
  }

  private static Map<String, String> contents(Path root) throws IOException {
    var found = new HashMap<String, String>();
    if (!Files.isDirectory(root)) {
      return found;
    }
    try (Stream<Path> all = Files.walk(root)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        found.put(root.relativize(file).toString(), Files.readString(file));
      }
    }
    return found;
  }

  /** Everything that is on this machine or on node 0, in the tree or in a trash. */
  private Set<String> kept() throws IOException {
    var kept = new HashSet<String>();
    kept.addAll(contents(laptop.path()).values());
    kept.addAll(contents(base.resolve("trash")).values());
    kept.addAll(contents(nodes.getFirst().folder().path()).values());
    kept.addAll(contents(state(nodes.getFirst()).resolve("trash")).values());
    return kept;
  }
}
