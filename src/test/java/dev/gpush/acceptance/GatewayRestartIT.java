package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpush.core.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What a gateway that ends means to those who are connected: terminals are hung up and pipes are
 * closed, as sshd's end would do it, nothing else is touched, and the session is there again.
 */
@Tag("local")
final class GatewayRestartIT {
  private interface End {
    void of(World world) throws Exception;
  }

  @Test
  void terminalsAreHungUpCommandsGoOnWithoutPipesAndTheSessionComesBack() throws Exception {
    try (World world = World.fresh()) {
      world.file("a.txt", "one\n");
      world.gpush("up", "--nodes", "1").succeeded();

      survives(world, "killed", World::killGateway, true);
      survives(world, "stopped", each -> each.gpush("gateway", "stop").succeeded(), false);
    }
  }

  /**
   * As laptops do from network to network; in a namespace of its own, so that only it is renamed.
   */
  @Test
  void aMachineThatWasRenamedGoesOnWithItsSessions() throws Exception {
    try (World world = World.fresh()) {
      world.gpush("up", "--nodes", "1").succeeded();
      world.gpush("gateway", "stop").succeeded();

      String[] inside = {"unshare", "--uts", "sh", "-c", "hostname elsewhere && exec \"$@\"", "sh"};
      assumeTrue(
          world.run(new byte[0], with(inside, "true")).exit() == 0, "nothing can be renamed here");

      world.run(new byte[0], with(inside, world.launcher().toString(), "ps")).succeeded();

      Json status = world.json("gateway", "status", "--json");
      Path socket = Path.of(status.object("sockets").text("control").orElseThrow());
      assertTrue(
          Files.readString(socket.resolveSibling("gateway.lock")).contains("host=elsewhere"));
      World.until("it is ready", () -> isReady(world));
      assertEquals("1\n", world.gpush("exec", "echo 1").succeeded().out());
    }
  }

  private static String[] with(String[] words, String... more) {
    return Stream.concat(Stream.of(words), Stream.of(more)).toArray(String[]::new);
  }

  private static void survives(World world, String how, End end, boolean isHungUpByTheNext)
      throws Exception {
    Path notes = Files.createDirectories(world.home().resolve("notes-" + how));
    Process terminal =
        ssh(
            world,
            "-tt",
            "trap 'echo hup > hup; exit' HUP; echo $$ > terminal; while :; do sleep 0.1; done",
            notes);
    Process command =
        ssh(
            world,
            "-T",
            "trap '' PIPE; echo $$ > command; cat > /dev/null; echo > eof;"
                + " while [ ! -e go ]; do sleep 0.1; done;"
                + " { echo out; } 2> /dev/null; echo $? > written",
            notes);
    await(notes.resolve("terminal"));
    await(notes.resolve("command"));

    end.of(world);

    for (Process client : List.of(terminal, command)) {
      assertEquals(255, client.waitFor());
    }
    if (!isHungUpByTheNext) {
      await(notes.resolve("hup"));
    }
    World.until("the session is ready again", () -> isReady(world));
    await(notes.resolve("hup"));
    await(notes.resolve("eof"));
    Files.createFile(notes.resolve("go"));
    await(notes.resolve("written"));
    assertTrue(
        Integer.parseInt(Files.readString(notes.resolve("written")).strip()) > 0,
        "nobody reads what a command says after that");

    world.file("a.txt", how + "\n");
    assertEquals(
        "[0] " + how + "\n", world.gpush("run", "--nodes", "1", "cat", "a.txt").succeeded().out());
    assertEquals("0\n", world.gpush("exec", "echo $GPUSH_NODE").succeeded().out());
  }

  private static boolean isReady(World world) {
    try {
      List<Json> sessions = world.json("ps", "--json").items();
      return sessions.getFirst().text("state").orElse("").equals("ready");
    } catch (Exception failed) {
      throw new AssertionError(failed);
    }
  }

  private static Process ssh(World world, String terminal, String command, Path folder)
      throws IOException {
    return world.start(
        world.project(),
        List.of(
            "ssh",
            "-F",
            world.sshConfig().toString(),
            terminal,
            "devbox",
            "cd " + folder + " && " + command));
  }

  private static void await(Path file) throws InterruptedException {
    World.until(
        file + " is written",
        () -> {
          try {
            return Files.exists(file) && Files.size(file) > 0;
          } catch (IOException changing) {
            return false;
          }
        });
  }
}
