package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code gpush cp}: what arrives, and that no kill leaves a wrong or a short file. */
final class CopyIT {
  /** {@code -Dgpush.kills=N} for the long form. */
  private static final int KILLS =
      Integer.getInteger("gpush.kills", Boolean.getBoolean("gpush.long") ? 50 : 4);

  private static final int BLOCK = 4 << 20;
  private static final int BLOCKS = 12;

  /** Of the map beside a part: a header, and a hash for each block that has come. */
  private static final int MAP_HEADER = 256;

  private static final int MAP_SLOT = 32;

  /** Everything that a copy keeps of a tree. */
  private static final String SNAPSHOT =
      """
      cd "$0" && find . -printf '%p %m %y %l ' \\( -type l -printf '\\n' -o -printf '%T@\\n' \\) | sort
      find . -type f -print0 | sort -z | xargs -0 sha256sum
      """;

  @Test
  @Tag("chaos")
  void noKillLeavesAWrongFile() throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.err.println("CopyIT seed " + seed + ", " + KILLS + " kills (-Dgpush.seed)");
    var random = new Random(seed);
    try (World world = World.asShipped(Map.of())) {
      world.gpush("up").succeeded();
      byte[] data = new byte[BLOCKS * BLOCK];
      for (int kill = 0; kill < KILLS; kill++) {
        String where = "seed " + seed + ", kill " + kill;
        random.nextBytes(data);
        Path source = world.project().resolve("data.bin");
        Files.write(source, data);
        Path target = world.person().resolve("there.bin");
        Files.deleteIfExists(target);
        var map = new File(target + ".gpush-part.map");
        String[] command =
            kill % 4 < 2
                ? new String[] {"cp", "data.bin", "devbox:" + target}
                : new String[] {"cp", "devbox:" + source, target.toString()};
        boolean isClient = kill % 2 == 0;
        ProcessHandle gateway = ProcessHandle.of(world.gatewayPid()).orElseThrow();

        Process copy = world.startGpush(command);
        CompletableFuture<byte[]> out = World.read(copy.getInputStream());
        CompletableFuture<byte[]> err = World.read(copy.getErrorStream());
        int blocks = random.nextInt(BLOCKS + 1);
        World.until(where, () -> !copy.isAlive() || map.length() >= MAP_HEADER + blocks * MAP_SLOT);
        ProcessHandle killed = isClient ? copy.toHandle() : gateway;
        killed.destroyForcibly();
        killed.onExit().get();

        copy.waitFor();
        if (isClient) {
          World.until("the copy's end", () -> world.processes().stream().noneMatch(CopyIT::isCopy));
          assertTrue(!Files.exists(target) || isSame(target, data), where);
        }
        out.join();
        err.join();
        Result last = world.gpush(command).succeeded();
        assertArrayEquals(data, Files.readAllBytes(target), where + ": " + last);
        assertFalse(Files.exists(Path.of(target + ".gpush-part")), where);
        assertFalse(map.exists(), where);
      }
    }
  }

  private static boolean isCopy(String process) {
    return process.contains("copy.pyz");
  }

  private static boolean isSame(Path file, byte[] data) {
    try {
      return java.util.Arrays.equals(Files.readAllBytes(file), data);
    } catch (java.io.IOException gone) {
      return false;
    }
  }

  @Test
  @Tag("local")
  void aTreeGoesThereAndBackAndStaysTheSame() throws Exception {
    try (World world = World.asShipped(Map.of())) {
      world.gpush("up", "--nodes", "2").succeeded();
      String make =
          """
          mkdir -p tree/a/b && cd tree && seq 1 100 | while read n; do echo $n > a/$n; done
          head -c 9000000 /dev/urandom > big && : > a/b/empty && ln -s ../big a/link
          printf x > "$(printf '\\377caf\\303\\251')" && chmod 640 a/7 && touch -d 2001-02-03T04:05:06.5 a/7
          chmod 555 a/b && touch -d 2002-03-04 a
          """;
      sh(world, make, world.project());
      Path there = world.person().resolve("there");

      Result up = world.gpush("cp", "tree", "1:" + there).succeeded();
      Result down = world.gpush("cp", "-r", "devbox-1:" + there, "back").succeeded();

      assertTrue(up.err().contains("devbox-1: copied 104 files"), up::toString);
      assertTrue(down.err().contains("devbox-1: copied 104 files"), down::toString);
      String before = sh(world, SNAPSHOT, world.project().resolve("tree"));
      assertEquals(before, sh(world, SNAPSHOT, there));
      assertEquals(before, sh(world, SNAPSHOT, world.project().resolve("back")));
      assertTrue(
          world.gpush("cp", "tree", "1:" + there).succeeded().err().contains("nothing to copy"));
      Result json = world.gpush("cp", "--json", "devbox:" + there + "/a/1*", "few").succeeded();
      assertTrue(
          json.out().lines().allMatch(line -> line.startsWith("{\"type\": ")), json::toString);
      Result nothing = world.gpush("cp", ":" + there + "/none", ".").exits(1);
      assertTrue(nothing.err().contains("none: No such file or directory"), nothing::toString);
    }
  }

  private static String sh(World world, String script, Path folder) throws Exception {
    String text =
        "cd '" + folder + "' && set -- && " + script.replace("\"$0\"", "'" + folder + "'");
    return world.run(new byte[0], "sh", "-c", text).succeeded().out();
  }
}
