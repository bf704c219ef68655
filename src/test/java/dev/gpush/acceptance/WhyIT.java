package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpush.core.json.Json;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * What {@code gpush why} says of real torch ranks on two local nodes, each kind of trouble made to
 * happen. Ranks reach the state that is looked at by themselves, and stay in it.
 */
@Execution(ExecutionMode.CONCURRENT)
@Tag("training")
final class WhyIT {
  private static final String HANG =
      """
      import os
      import torch, torch.distributed as dist

      def load_batch():
          open(os.environ["NEVER"]).close()       # a pipe without a writer

      def step():
          if dist.get_rank() == 2:
              load_batch()
          dist.all_reduce(torch.ones(1))

      dist.init_process_group("gloo")
      step()
      """;

  /** A step takes rank 3 four times as long as the others. */
  private static final String STRAGGLES =
      """
      import itertools, time
      import torch, torch.distributed as dist

      def augment(seconds):
          time.sleep(seconds)

      dist.init_process_group("gloo")
      for step in itertools.count():
          augment(0.4 if dist.get_rank() == 3 else 0.1)
          dist.all_reduce(torch.ones(1))
          if dist.get_rank() == 0:
              print("step", step, flush=True)
      """;

  private static final String LOADS =
      """
      import time
      import torch, torch.distributed as dist
      from torch.utils.data import DataLoader, Dataset

      class Images(Dataset):
          def __len__(self):
              return 1 << 20

          def __getitem__(self, at):
              return self.decode(at)

          def decode(self, at):
              time.sleep(0.5)
              return torch.ones(1)

      dist.init_process_group("gloo")
      for step, batch in enumerate(DataLoader(Images(), batch_size=1, num_workers=1)):
          dist.all_reduce(batch)
          if dist.get_rank() == 0:
              print("step", step, flush=True)
      """;

  private static final String FAILS =
      """
      import torch, torch.distributed as dist

      def step(at):
          if dist.get_rank() == 2 and at == 3:
              raise ValueError("loss is NaN")
          dist.all_reduce(torch.ones(1))

      dist.init_process_group("gloo")
      for at in range(1000):
          step(at)
      """;

  private static String torch() throws Exception {
    Optional<String> torch = Ranks.torch();
    assumeTrue(torch.isPresent(), "the torch rig is down: src/test/rigs/torch up");
    return torch.get();
  }

  /** The place of the only line that has this text. */
  private static String at(String file, String script, String text) {
    List<String> lines = script.lines().toList();
    List<String> found = lines.stream().filter(line -> line.contains(text)).toList();
    assertEquals(1, found.size(), text);
    return file + ":" + (lines.indexOf(found.getFirst()) + 1);
  }

  /** A session of as many nodes, and a pipe that is never written to. */
  private static World world(int nodes) throws Exception {
    World world = World.fresh();
    Path never = never(world);
    assertEquals(0, new ProcessBuilder("mkfifo", never.toString()).start().waitFor());
    world.file("gpush.yaml", "env: {OMP_NUM_THREADS: \"1\", NEVER: " + never + "}\n");
    world.gpush("up", "--nodes", "" + nodes).succeeded();
    return world;
  }

  private static Path never(World world) {
    return world.person().resolve("never");
  }

  /** Starts this on all nodes, with two ranks on each. */
  private static void starts(World world, String file, String script) throws Exception {
    world.file(file, script);
    world.gpush("run", "--detach", "--nproc", "2", "--python", torch(), file).succeeded();
  }

  /** The first answer that has this verdict and this text in its sentence. */
  private static Json answer(World world, String verdict, Predicate<String> text) throws Exception {
    var answers = new ArrayList<Json>();
    World.until(
        () -> verdict + ", but " + answers.stream().map(Json::write).toList(),
        () -> {
          try {
            Json said = world.json("why", "--json");
            answers.add(said);
            return said.text("verdict").equals(Optional.of(verdict))
                && text.test(said.text("text").orElseThrow());
          } catch (Exception failed) {
            throw new IllegalStateException(failed);
          }
        });
    return answers.getLast();
  }

  @Test
  void theRankThatMissesACollective() throws Exception {
    try (World world = world(2)) {
      starts(world, "hang.py", HANG);

      Json answer = answer(world, "rank-apart", text -> text.contains(" stands still: "));

      String there = at("hang.py", HANG, "all_reduce");
      String apart = at("hang.py", HANG, "open(");
      String text = answer.text("text").orElseThrow();
      assertTrue(
          text.endsWith(
              ": 3 of 4 ranks wait in all_reduce at "
                  + there
                  + "; rank 2 is in load_batch at "
                  + apart),
          text);
      assertTrue(answer.write().contains("look at " + apart + ", where rank 2 is"), answer::write);
    }
  }

  @Test
  void theSameOfTorchrunThatWasTypedInSsh() throws Exception {
    String torch = torch();
    try (World world = world(1)) {
      world.file("hang.py", HANG);
      world.gpush("sync").succeeded();
      String torchrun = torch + " -m torch.distributed.run --standalone --nproc-per-node 4 hang.py";
      world.start(
          world.project(),
          world.ssh("devbox", "cd $GPUSH_WORKSPACE; NEVER=" + never(world) + " exec " + torchrun));

      Json answer = answer(world, "rank-apart", _ -> true);

      String text = answer.text("text").orElseThrow();
      assertTrue(text.startsWith("the 4 ranks that were started by hand did not move "), text);
      assertTrue(
          text.endsWith("; rank 2 is in load_batch at " + at("hang.py", HANG, "open(")), text);
    }
  }

  @Test
  void theStraggler() throws Exception {
    try (World world = world(2)) {
      starts(world, "slow.py", STRAGGLES);

      Json answer = answer(world, "behind", text -> text.contains("rank 3 "));

      String text = answer.text("text").orElseThrow();
      assertTrue(text.contains("at " + at("slow.py", STRAGGLES, "time.sleep")), text);
    }
  }

  @Test
  void theDataLoader() throws Exception {
    try (World world = world(2)) {
      starts(world, "load.py", LOADS);

      Json answer = answer(world, "loader-bound", _ -> true);

      String text = answer.text("text").orElseThrow();
      assertTrue(text.contains("for the data loader at " + at("load.py", LOADS, "in enum")), text);
      assertTrue(
          answer.write().contains("decode (" + at("load.py", LOADS, "sleep")), answer::write);
    }
  }

  @Test
  void theRankThatFailed() throws Exception {
    String torch = torch();
    try (World world = world(2)) {
      world.file("fail.py", FAILS);
      // Its status is 1, or 134: gloo's threads may abort a rank whose exception ends it.
      Result run = world.gpush("run", "--nproc", "2", "--python", torch, "fail.py");
      assertNotEquals(0, run.exit(), run::toString);

      Json answer = answer(world, "failed", _ -> true);

      String text = answer.text("text").orElseThrow();
      assertTrue(text.contains(": rank 2 (node 1 on "), text);
      assertTrue(
          text.endsWith("ValueError: loss is NaN (" + at("fail.py", FAILS, "raise") + ")"), text);
      assertTrue(answer.write().contains("it printed last:"), answer::write);
    }
  }

  /** A connection is open, and nothing passes for a minute. */
  @Test
  void whoHoldsNodesThatAreIdle() throws Exception {
    try (World world = world(1)) {
      Process terminal = world.start(world.project(), world.ssh("devbox", "echo ready; cat"));
      assertEquals("ready", terminal.inputReader().readLine());

      Json answer = answer(world, "idle", text -> text.startsWith("devbox is idle for "));

      String text = answer.text("text").orElseThrow();
      assertTrue(text.endsWith(", since a command; ssh is connected and silent"), text);
      assertTrue(answer.write().contains("gpush down gives it back now"), answer::write);
    }
  }
}
