package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** One environment of a session, wherever something runs in it. */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
final class EnvironmentIT {
  private static final String SHOW =
      """
      import os, shutil, sys
      print("<<%s %s %s %s>>" % (shutil.which("python3"), sys.prefix, sys.path[1:], os.environ.get("EXTRA")))
      """;

  private static final Pattern SHOWN = Pattern.compile("<<(.*?)>>");

  private static String shown(String output) {
    Matcher found = SHOWN.matcher(output);
    assertTrue(found.find(), output);
    return found.group(1);
  }

  private static Result ssh(World world, String input, String... words) throws Exception {
    return world.run(
        input.getBytes(StandardCharsets.UTF_8), world.ssh(words).toArray(String[]::new));
  }

  /** What Python says of itself in each place. */
  private static Map<String, String> everywhere(World world) throws Exception {
    String line = "python3 $GPUSH_WORKSPACE/show.py";
    var said = new TreeMap<String, String>();
    said.put("ssh", ssh(world, "", "devbox", line).out());
    said.put("ssh to node 1", ssh(world, "", "devbox-1", line).out());
    said.put("bash -lc", ssh(world, "", "devbox", "bash -lc '" + line + "'").out());
    said.put("a shell without a terminal", ssh(world, line + "\n", "devbox").out());
    said.put("as editors begin", ssh(world, line + "\n", "devbox", "bash", "-l").out());
    said.put("a terminal", ssh(world, line + "; exit\n", "-tt", "devbox").out());
    said.put("exec", world.gpush("exec", line).out());
    said.put("exec of a program", world.gpush("exec", "--on", "1", "python3", "show.py").out());
    said.put("ranks", world.gpush("run", "show.py").succeeded().out());
    said.put("a command of a run", world.gpush("run", "python3", "./show.py").out());
    said.replaceAll((_, output) -> shown(output));
    return said;
  }

  private static Path environment(World world, String name) throws Exception {
    Path folder = world.home().resolveSibling(name);
    world.run(new byte[0], "python3", "-m", "venv", "--without-pip", folder.toString()).succeeded();
    return folder;
  }

  private static void requireEverywhere(World world, Path venv, String extra) throws Exception {
    Map<String, String> said = everywhere(world);
    assertEquals(1, said.values().stream().distinct().count(), said::toString);
    String one = said.get("ssh");
    assertTrue(one.startsWith(venv + "/bin/python3 " + venv + " ["), one);
    assertTrue(one.endsWith(" " + extra), one);
  }

  @Test
  void theSamePythonAndVariablesEverywhereAlsoAfterTheGatewayWasKilled() throws Exception {
    try (World world = World.fresh()) {
      Path first = environment(world, "first");
      Path second = environment(world, "second");
      world.file("show.py", SHOW);
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
  void setupMakesTheEnvironmentAndAFailureKeepsTheNodes() throws Exception {
    try (World world = World.fresh()) {
      world.file("show.py", SHOW);
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
      String made = ssh(world, "", "devbox", "cd $GPUSH_WORKSPACE; pwd").out().strip() + "/.venv";
      assertTrue(
          shown(ssh(world, "", "devbox", "python3 $GPUSH_WORKSPACE/show.py").out())
              .startsWith(made));
      assertEquals("once\n", world.gpush("exec", "cat $GPUSH_WORKSPACE.gpush/count").out());

      world.file("lock", "bad\n");
      Result refused = world.gpush("run", "show.py").exits(255);
      assertTrue(refused.err().contains("setup failed on node 0"), refused.err());
      assertTrue(refused.err().contains("exit status 4: lock is bad"), refused.err());
      assertEquals("here\n", ssh(world, "", "devbox", "echo here").succeeded().out());

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
      world.file("show.py", SHOW);
      world.file("gpush.yaml", "python: {file: gone.sh}\n");
      Result up = world.gpush("up").exits(3);
      assertTrue(up.err().contains("gone.sh cannot be activated on node 0"), up.err());
      Result run = world.gpush("run", "show.py").exits(255);
      assertTrue(run.err().contains("does not exist on the node"), run.err());

      Result command = ssh(world, "", "devbox", "echo here").succeeded();
      assertEquals(List.of("here\n", ""), List.of(command.out(), command.err()));
      Result terminal = ssh(world, "exit\n", "-tt", "devbox");
      assertTrue(
          terminal.out().contains("gpush: the environment of this session is not active: gone.sh"),
          terminal.out());
    }
  }
}
