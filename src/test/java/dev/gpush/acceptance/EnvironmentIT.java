package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** One environment of a session, wherever something runs in it. */
@Execution(ExecutionMode.CONCURRENT)
@Tag("local")
final class EnvironmentIT {
  static Path environment(World world, String name) throws Exception {
    Path folder = world.home().resolveSibling(name);
    world.run(new byte[0], "python3", "-m", "venv", "--without-pip", folder.toString()).succeeded();
    return folder;
  }

  private static void requireEverywhere(World world, Path venv, String extra) throws Exception {
    Json one = Everywhere.same(Everywhere.ways(world));
    assertEquals(venv + "/bin/python3", one.text("python").orElse(""));
    assertEquals(venv.toString(), one.text("prefix").orElse(""));
    Json other = Everywhere.overSsh(world, "devbox-1");
    assertEquals(one.text("python"), other.text("python"));
    assertEquals(extra, one.object("variables").text("EXTRA").orElse(""));
  }

  @Test
  void theSamePythonAndVariablesEverywhereAlsoAfterTheGatewayWasKilled() throws Exception {
    try (World world = World.fresh()) {
      Path first = environment(world, "first");
      Path second = environment(world, "second");
      Everywhere.prepare(world);
      world.file("env.sh", "export EXTRA=$FROM-two\n");
      world.file(
          "gpush.yaml",
          "nodes: 2%nenv: {FROM: one}%npython: {venv: %s, file: env.sh}%n".formatted(first));
      world.gpush("up").succeeded();
      requireEverywhere(world, first, "one-two");

      world.killGateway();
      requireEverywhere(world, first, "one-two");

      Result other = world.gpush("up", "--python", second.toString()).succeeded();
      assertTrue(other.err().contains("shells and runs on devbox use " + second), other.err());
      requireEverywhere(world, second, "one-two");
    }
  }

  @Test
  void aKernelHasItToo() throws Exception {
    Optional<String> torch = Ranks.torch();
    Assumptions.assumeTrue(torch.isPresent(), "no torch rig: it has the Jupyter server");
    try (World world = World.fresh()) {
      Everywhere.prepare(world);
      world.gpush("up").succeeded();
      Everywhere.isOne(world, torch.get());
    }
  }

  @Test
  void setupMakesTheEnvironmentAndAFailureKeepsTheNodes() throws Exception {
    try (World world = World.fresh()) {
      Everywhere.prepare(world);
      world.file("lock", "one\n");
      world.file(
          "gpush.yaml",
          """
          python: {venv: .venv}
          setup:
            run: |
              [ "$(cat lock)" != bad ] || { echo "lock is bad"; exit 4; }
              echo once >>$GPUSH_WORKSPACE.gpush/count
              python3 -m venv --without-pip .venv
            when: [lock]
          """);
      world.gpush("up").succeeded();
      world.gpush("run", "show.py").succeeded();
      String made =
          Everywhere.ssh(world, "", "devbox", "cd $GPUSH_WORKSPACE; pwd").out().strip() + "/.venv";
      assertEquals(made, Everywhere.overSsh(world, "devbox").text("prefix").orElse(""));
      assertEquals("once\n", world.gpush("exec", "cat $GPUSH_WORKSPACE.gpush/count").out());

      world.file("lock", "bad\n");
      Result refused = world.gpush("run", "show.py").exits(255);
      assertTrue(refused.err().contains("setup failed on node 0"), refused.err());
      assertTrue(refused.err().contains("exit status 4: lock is bad"), refused.err());
      assertEquals("here\n", Everywhere.ssh(world, "", "devbox", "echo here").succeeded().out());

      world.file("lock", "two\n");
      world.gpush("run", "show.py").succeeded();
      assertEquals("once\nonce\n", world.gpush("exec", "cat $GPUSH_WORKSPACE.gpush/count").out());

      // What setup made is the user's: down would keep it, and the world would not be empty.
      world.gpush("exec", "rm -rf .venv").succeeded();
    }
  }

  @Test
  void whatCannotBeActivatedRefusesRunsAndOnlyWarnsInTerminals() throws Exception {
    try (World world = World.fresh()) {
      Everywhere.prepare(world);
      world.file("gpush.yaml", "python: {file: gone.sh}\n");
      Result up = world.gpush("up").exits(3);
      assertTrue(up.err().contains("gone.sh cannot be used on node 0"), up.err());
      Result run = world.gpush("run", "show.py").exits(255);
      assertTrue(run.err().contains("does not exist on the node"), run.err());

      Result command = Everywhere.ssh(world, "", "devbox", "echo here").succeeded();
      assertEquals(List.of("here\n", ""), List.of(command.out(), command.err()));
      Result terminal = Everywhere.ssh(world, "exit\n", "-tt", "devbox");
      assertTrue(
          terminal.out().contains("gpush: the environment of this session is not active: gone.sh"),
          terminal.out());
    }
  }
}
