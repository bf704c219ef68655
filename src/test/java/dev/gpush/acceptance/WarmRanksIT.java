package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Warm ranks with real torch, on two local nodes: the same as cold ones, which torchrun starts. */
@Execution(ExecutionMode.CONCURRENT)
@Tag("training")
final class WarmRanksIT {
  private static final String COLD = "started cold: ";

  /** As long as it imports, each try is a whole cold run. */
  private static final int MOST_TRIES = 60;

  private static final String LOOK =
      """
      import torch
      import torch.distributed as dist
      import os, sys
      dist.init_process_group("gloo")
      total = torch.ones(1) * (dist.get_rank() + 1)
      dist.all_reduce(total)
      print("sum", int(total), "argv", sys.argv, "file", __file__, "path", sys.path[0])
      print("threads", torch.get_num_threads())
      print("seed", torch.initial_seed(), torch.rand(1).item())
      # torchrun's ranks begin as a shell, which adds these.
      print("names", " ".join(sorted(set(os.environ) - {"PWD", "OLDPWD", "SHLVL", "_"})))
      for name in sorted(os.environ):
          if name.startswith(("ROLE", "GROUP", "LOCAL", "WORLD", "NODE", "OMP", "MASTER_ADDR")):
              print(name, os.environ[name])
      """;

  private static final String FAILS =
      """
      import torch
      import os, sys, time
      def step():
          import missing_module
      if os.environ["RANK"] == "1":
          step()
      time.sleep(1000)
      """;

  private static Result run(World world, String python, boolean warm, String script)
      throws Exception {
    var command = new ArrayList<>(List.of("run", "--nodes", "2", "--nproc", "2"));
    command.addAll(List.of("--python", python));
    if (warm) {
      command.add("--warm");
    }
    command.addAll(List.of(script, "--lr", "1"));
    return world.gpush(command.toArray(String[]::new));
  }

  /** The first run that is warm on all nodes. */
  private static Result warm(World world, String python, String script) throws Exception {
    Result run = run(world, python, true, script);
    assertTrue(run.err().contains(COLD + "the first run with --warm"), run::toString);
    for (int tries = 0; tries < MOST_TRIES && run.err().contains(COLD); tries++) {
      run = run(world, python, true, script);
    }
    assertFalse(run.err().contains(COLD), run::toString);
    return run;
  }

  /** What ranks print; gloo says how it is connected, whenever it likes, and seeds are chance. */
  private static Set<String> lines(Result run) {
    var lines = new TreeSet<>(run.out().lines().toList());
    lines.removeIf(line -> line.contains("[Gloo]") || line.contains("] seed "));
    return lines;
  }

  private static long seeds(Result run) {
    return run.out()
        .lines()
        .filter(line -> line.contains("] seed "))
        .map(line -> line.replaceFirst(".*seed (\\d+) .*", "$1"))
        .distinct()
        .count();
  }

  @Test
  void ranksSeeTheSameAndEndTheSame() throws Exception {
    Optional<String> torch = Ranks.torch();
    assumeTrue(torch.isPresent(), "the torch rig is not there");
    String python = torch.get();
    try (World world = World.fresh()) {
      world.file("train.py", LOOK);
      world.file("fail.py", FAILS);

      Result cold = run(world, python, false, "train.py").succeeded();
      Result same = warm(world, python, "train.py").succeeded();

      assertEquals(lines(cold), lines(same), same::toString);
      assertTrue(lines(same).stream().anyMatch(line -> line.contains("sum 10 ")), same::toString);
      assertEquals(4, seeds(same), same::toString);

      Result failed = run(world, python, false, "fail.py").exits(1);
      Result asWell = warm(world, python, "fail.py").exits(1);

      assertEquals(List.of(firstLine(failed)), List.of(firstLine(asWell)), asWell::toString);
      assertTrue(firstLine(asWell).contains("(fail.py:4)"), asWell::toString);
    }
  }

  private static String firstLine(Result run) {
    return run.err()
        .lines()
        .filter(line -> line.startsWith("gpush: rank 1"))
        .findFirst()
        .orElse("");
  }
}
