package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Saves reach the nodes without a setting and without a command, where that is meant. */
@Execution(ExecutionMode.CONCURRENT)
final class LiveSavesIT {
  private static final byte[] NO_INPUT = new byte[0];

  @Test
  void aSaveIsOnAllNodesWithoutASetting() throws Exception {
    try (World world = World.fresh()) {
      world.file("train.py", "x = 1\n");
      Result up = world.gpush("up", "--nodes", "2").succeeded();
      assertFalse(up.err().contains("saves"), up::toString);

      world.file("train.py", "x = 2\n");
      World.until("it is synced", () -> status(world).flag("synced"));

      Result all = world.gpush("exec", "--all", "cat train.py").succeeded();
      assertEquals(List.of("node 0: x = 2", "node 1: x = 2"), all.out().lines().sorted().toList());
      world.gpush("down").succeeded();
    }
  }

  @Test
  @Tag("local")
  void onDemandSendsWithCommandsOnly() throws Exception {
    try (World world = World.fresh()) {
      world.file("gpush.yaml", "sync: {mode: manual}\n");
      world.file("train.py", "x = 1\n");
      Result up = world.gpush("up").succeeded();
      assertFalse(up.err().contains("saves"), up::toString);
      world.file("train.py", "x = 2\n");

      assertEquals("off", status(world).text("mode").orElse(""));
      assertEquals("x = 1\n", world.gpush("exec", "cat train.py").succeeded().out());
      world.gpush("sync").succeeded();
      assertEquals("x = 2\n", world.gpush("exec", "cat train.py").succeeded().out());
      world.gpush("down").succeeded();
    }
  }

  @Test
  @Tag("local")
  void aHomeFolderIsNotWatchedAndUpSaysSoOnce() throws Exception {
    try (World world = World.fresh()) {
      Files.writeString(world.person().resolve("notes.txt"), "one\n");
      String why = "saves are not sent by themselves, because it is your home folder";

      Result up = world.gpushIn(world.person(), NO_INPUT, "up", "--yes").succeeded();
      assertTrue(up.err().contains(why), up::toString);
      Result again = world.gpushIn(world.person(), NO_INPUT, "up", "--yes").succeeded();
      assertFalse(again.err().contains(why), again::toString);
      Result status = world.gpushIn(world.person(), NO_INPUT, "sync", "status").succeeded();
      assertTrue(status.out().contains(why), status::toString);

      Files.writeString(world.person().resolve("notes.txt"), "two\n");
      String there = world.gpushIn(world.person(), NO_INPUT, "exec", "cat notes.txt").out();
      assertEquals("one\n", there);
      world.gpushIn(world.person(), NO_INPUT, "down").succeeded();
    }
  }

  /** In the place of someone who works in an editor on node 0. */
  @Test
  @Tag("local")
  void whatIsMadeRenamedAndDeletedOnNode0IsHereAndOnTheOtherNodes() throws Exception {
    try (World world = World.fresh()) {
      world.file("train.py", "x = 1\n");
      world.file("util.py", "y = 1\n");
      world.file("old.py", "z = 1\n");
      world.gpush("up", "--nodes", "2").succeeded();
      Path here = world.project();
      Process editor =
          new ProcessBuilder(world.ssh("devbox", "sh"))
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      try (var keys = editor.outputWriter()) {
        keys.write(
            """
            cd "$GPUSH_WORKSPACE"
            mkdir -p pkg runs && echo 'import train' > pkg/model.py && echo 1 > runs/loss.json
            mv util.py helpers.py
            rm old.py
            """);
        keys.flush();

        World.until(
            "the new file, the new name and the deletion are here",
            () ->
                Files.exists(here.resolve("pkg/model.py"))
                    && Files.exists(here.resolve("helpers.py"))
                    && !Files.exists(here.resolve("util.py"))
                    && !Files.exists(here.resolve("old.py")));
        World.until("it is synced", () -> status(world).flag("synced"));
      }
      editor.waitFor();

      assertEquals("import train\n", Files.readString(here.resolve("pkg/model.py")));
      assertEquals("y = 1\n", Files.readString(here.resolve("helpers.py")));
      assertFalse(Files.exists(here.resolve("runs")));
      assertEquals(
          "gpush.yaml\nhelpers.py\npkg/model.py\ntrain.py\n",
          world.gpush("exec", "--on", "1", "find * -type f | sort").succeeded().out());
      String status = world.gpush("sync", "status").succeeded().out();
      assertTrue(
          status.contains("new on node 0, and stays there: runs/: programs call their output so"),
          status);
      try (var kept = Files.walk(world.home().resolve("trash"))) {
        List<Path> old = kept.filter(path -> path.endsWith("old.py")).toList();
        assertEquals("z = 1\n", Files.readString(old.getFirst()));
      }
      world.gpush("exec", "rm -r runs").succeeded(); // Else it stays on this machine.
      world.gpush("down").succeeded();
    }
  }

  private static Json status(World world) {
    try {
      return world.json("sync", "status", "--json");
    } catch (Exception failed) {
      throw new AssertionError(failed);
    }
  }
}
