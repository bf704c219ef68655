package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpush.core.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Ranks that fail, each in its own way, on two and on four local nodes: the first line after the
 * run names the rank, its host, the reason and the user's own line, and the gang is clean.
 *
 * <p>Which rank fails first is never left to the machine: the others are told by a file that they
 * are all there, ignore SIGTERM, and wait.
 */
@Execution(ExecutionMode.CONCURRENT)
@Tag("local")
final class RunFailuresIT {
  private static final String PYTHON = "/usr/bin/python3";

  /** Every rank writes its pid, ignores SIGTERM and maps a library's memory; rank 1 goes on. */
  private static final String ALL_THERE =
      """
      import ctypes, mmap, os, signal, sys, time
      rank, world, meet = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), os.environ["MEET"]
      signal.signal(signal.SIGTERM, signal.SIG_IGN)
      if rank != 1:
          with open("/dev/shm/torch_%d_gpush" % os.getpid(), "w+b") as file:
              file.truncate(4096)
              area = mmap.mmap(file.fileno(), 0)
      with open("%s/new%d" % (meet, rank), "w") as file:
          file.write(str(os.getpid()))
      os.rename("%s/new%d" % (meet, rank), "%s/rank%d" % (meet, rank))
      while not all(os.path.exists("%s/rank%d" % (meet, n)) for n in range(world)):
          time.sleep(0.02)
      if rank != 1:
          time.sleep(100000)

      """;

  /** The place of a line of what comes after that, counted from 1. */
  private static String at(int line) {
    return " (fail.py:" + (ALL_THERE.lines().count() + line) + ")";
  }

  /** A run of this script, and what is known of it. */
  private static Json fails(World world, int nodes, int exit, String text) throws Exception {
    Path meet = Files.createTempDirectory(world.project(), "meet");
    world.file("gpush.yaml", "env: {MEET: " + meet + "}\n");
    world.file("fail.py", ALL_THERE + text);
    var command = new ArrayList<String>(List.of("run", "--nodes", "" + nodes, "--python", PYTHON));
    command.add("fail.py");
    Result run = world.gpush(command.toArray(String[]::new)).exits(exit);
    Json newest = world.json("runs", "--json").items().getFirst();
    assertClean(run, newest, meet);
    Json failure = newest.object("failure");
    assertEquals(1L, failure.number("rank").orElseThrow(), run::toString);
    assertEquals(1L, failure.number("node").orElseThrow(), run::toString);
    String line = failure.text("text").orElseThrow();
    assertTrue(line.startsWith("rank 1 (node 1 on "), line);
    assertTrue(run.err().lines().anyMatch(("gpush: " + line)::equals), run::toString);
    Result logs = world.gpush("logs").exits(exit);
    assertEquals(Optional.of("gpush: " + line), logs.err().lines().findFirst(), logs::toString);
    return failure;
  }

  /** The run's last command has returned: no rank, no memory of a library, no port. */
  private static void assertClean(Result run, Json newest, Path meet) throws IOException {
    try (Stream<Path> ranks = Files.list(meet)) {
      for (Path rank : ranks.toList()) {
        String pid = Files.readString(rank);
        assertFalse(Files.exists(Path.of("/proc", pid)), () -> "rank of pid " + pid + ": " + run);
        assertFalse(Files.exists(Path.of("/dev/shm/torch_" + pid + "_gpush")), run::toString);
      }
    }
    assertTrue(
        newest.object("failure").items("left").stream()
            .allMatch(left -> left.get("port").isEmpty() && left.get("processes").isEmpty()),
        newest::write);
  }

  private static void says(Json failure, String code, String... parts) {
    String line = failure.text("text").orElseThrow();
    assertEquals(Optional.of(code), failure.text("code"), line);
    for (String part : parts) {
      assertTrue(line.contains(part), line);
    }
  }

  @Test
  void whatIsNotSentIsNamedWithWhatSendsIt() throws Exception {
    try (World world = World.fresh()) {
      world.file(".gitignore", "/data/\n");
      world.file("data/sets/tok.json", "{}");
      world.file("data/large.bin", "1");
      world.file("data/words/__init__.py", "");
      world.file("src/__init__.py", "");
      world.file(
          "src/train.py",
          """
          import os, sys
          root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
          open("data/sets/tok.json").close()
          open(os.path.join(root, "data/sets/tok.json")).close()
          assert not os.path.exists("data/large.bin")
          sys.path.insert(0, root)
          import data.words
          """);
      world.gpush("up", "--nodes", "1").succeeded();

      sends(world, "data/sets/tok.json");
      sends(world, "data/words");
      world.gpush("run", "--python", PYTHON, "src/train.py").succeeded();
    }
  }

  /** A run fails for lack of this path; what it says to try is done. */
  private static void sends(World world, String path) throws Exception {
    Result run = world.gpush("run", "--python", PYTHON, "src/train.py").exits(1);
    String why = "  " + path + " is not sent: ";
    assertTrue(run.err().lines().anyMatch(line -> line.startsWith(why)), run::toString);
    String lead = "  try: ";
    String command =
        run.err().lines().filter(line -> line.startsWith(lead)).findFirst().orElse(lead);
    Result asked = world.gpush("why").succeeded();
    assertTrue(asked.out().contains(why), asked::toString);
    assertTrue(asked.out().contains(command), asked::toString);
    Process shell =
        new ProcessBuilder("sh", "-c", command.substring(lead.length()))
            .directory(world.project().toFile())
            .start();
    assertEquals(0, shell.waitFor(), command);
  }

  @Test
  void reasonsOfTwoNodes() throws Exception {
    try (World world = World.fresh()) {
      world.gpush("up", "--nodes", "2").succeeded();
      says(
          fails(world, 2, 1, "def load():\n    import boto3_missing\nload()\n"),
          "import",
          "ModuleNotFoundError: No module named 'boto3_missing'" + at(2));
      says(
          fails(world, 2, 1, "import json\njson.loads('[')\n"),
          "exception",
          "JSONDecodeError: ",
          at(2));
      says(fails(world, 2, 9, "os._exit(9)\n"), "exit", ": exit status 9");
      says(
          fails(
              world,
              2,
              134,
              "print('free(): invalid pointer', file=sys.stderr)\nctypes.CDLL(None).abort()\n"),
          "signal",
          ": ended by SIGABRT: free(): invalid pointer" + at(2));
      says(
          fails(world, 2, 139, "os.kill(os.getpid(), signal.SIGSEGV)\n"),
          "signal",
          "SIGSEGV",
          at(1));
      says(
          fails(world, 2, 137, "os.kill(os.getpid(), signal.SIGKILL)\n"),
          "signal",
          ": ended by SIGKILL");
      says(
          fails(world, 2, 1, "open('/dev/full', 'wb', 0).write(b'x')\n"),
          "disk-full",
          "no space left: [Errno 28] No space left on device" + at(1));
    }
  }

  @Test
  void theSameExceptionOfAllRanksOfFourNodes() throws Exception {
    try (World world = World.fresh()) {
      world.gpush("up", "--nodes", "4").succeeded();
      String alone = ALL_THERE.substring(0, ALL_THERE.indexOf("if rank != 1:\n    time"));
      Path meet = Files.createTempDirectory(world.project(), "meet");
      world.file("gpush.yaml", "env: {MEET: " + meet + "}\nrun: {grace: 10m}\n");
      world.file("fail.py", alone + "raise ValueError('all alike')\n");

      Result run = world.gpush("run", "--nodes", "4", "--python", PYTHON, "fail.py").exits(1);

      Json failure = world.json("runs", "--json").items().getFirst().object("failure");
      says(failure, "exception", "ValueError: all alike (fail.py:13)");
      // Which of them is first is not for us to say; that all four are named is.
      assertEquals(3, failure.items("same_ranks").size(), run::toString);
      assertEquals(
          1,
          run.err().lines().filter(line -> line.endsWith("ValueError: all alike")).count(),
          run::toString);
      assertFalse(run.err().contains("left on"), run::toString);
    }
  }

  @Test
  void aRankThatItsCgroupKillsForMemory() throws Exception {
    Path groups = Path.of("/sys/fs/cgroup/memory");
    assumeTrue(Files.isWritable(groups), "no cgroup can be made in " + groups);
    Path group = Files.createDirectory(groups.resolve("gpush-it-" + ProcessHandle.current().pid()));
    try (World world = World.fresh()) {
      Files.writeString(group.resolve("memory.limit_in_bytes"), "60000000");
      world.gpush("up", "--nodes", "2").succeeded();
      Json failure =
          fails(
              world,
              2,
              137,
              "open('"
                  + group
                  + "/cgroup.procs', 'w').write(str(os.getpid()))\n"
                  + "eaten = []\nwhile True:\n    eaten.append(bytearray(1 << 20))\n");
      says(failure, "memory", "out of memory: the kernel killed ");
    } finally {
      World.until("an empty cgroup", () -> group.toFile().delete());
    }
  }

  @Test
  void aBusErrorBecauseDevShmIsFull() throws Exception {
    try (World world = World.fresh()) {
      // The gateway, and all that it starts, in a mount namespace with a small /dev/shm.
      Result up =
          world.run(
              new byte[0],
              "unshare",
              "-m",
              "sh",
              "-c",
              "mount -t tmpfs -o size=2m tmpfs /dev/shm && exec \"$0\" up --nodes 2",
              world.launcher().toString());
      assumeTrue(up.exit() == 0, up::toString);
      says(
          fails(
              world,
              2,
              135,
              "with open('/dev/shm/full', 'w+b') as file:\n    file.truncate(8 << 20)\n"
                  + "    area = mmap.mmap(file.fileno(), 0)\n"
                  + "    for at in range(0, 8 << 20, 4096):\n        area[at:at + 1] = b'x'\n"),
          "shared-memory",
          ": bus error: /dev/shm is full (2.1 MB)" + at(5));
    }
  }

  @Test
  void aNodeWhoseSupervisorIsKilledIsNamed() throws Exception {
    try (World world = World.fresh()) {
      world.gpush("up", "--nodes", "2").succeeded();
      Path meet = Files.createTempDirectory(world.project(), "meet");
      world.file("gpush.yaml", "env: {MEET: " + meet + "}\n");
      world.file(
          "fail.py", ALL_THERE + "os.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(100000)\n");

      Result run = world.gpush("run", "--nodes", "2", "--python", PYTHON, "fail.py").exits(255);

      Json newest = world.json("runs", "--json").items().getFirst();
      assertEquals(Optional.of("lost"), newest.text("state"));
      says(newest.object("failure"), "node-lost", "supervisor on node 1 on ");
      assertTrue(run.err().contains("run 1 was lost on node 1"), run::toString);
      assertClean(run, newest, meet);
    }
  }

  @Test
  @Tag("training")
  void torchrunsReportIsShownOnlyWhenAskedForAndItsRanksAreSeenAtOnce() throws Exception {
    Optional<String> torch = Ranks.torch();
    assumeTrue(torch.isPresent());
    try (World world = World.fresh()) {
      world.gpush("up", "--nodes", "2").succeeded();
      Path meet = Files.createTempDirectory(world.project(), "meet");
      world.file("gpush.yaml", "env: {MEET: " + meet + ", OMP_NUM_THREADS: \"1\"}\n");
      world.file("fail.py", ALL_THERE + "raise ValueError('bad')\n");

      Result run =
          world
              .gpush("run", "--nodes", "2", "--python", torch.get(), "torchrun", "fail.py")
              .exits(1);

      Json newest = world.json("runs", "--json").items().getFirst();
      says(newest.object("failure"), "exception", "rank 1 (node 1 on ", "ValueError: bad" + at(1));
      assertClean(run, newest, meet);
      assertFalse(run.err().contains("Root Cause"), run::toString);
      assertFalse(run.err().contains("ChildFailedError"), run::toString);
      Result wall = world.gpush("logs", "--launcher").exits(1);
      assertTrue(wall.err().contains("Root Cause"), wall::toString);
    }
  }

  @Test
  @Tag("training")
  void ranksThatWaitForEachOtherInVain() throws Exception {
    Optional<String> torch = Ranks.torch();
    assumeTrue(torch.isPresent());
    try (World world = World.fresh()) {
      world.gpush("up", "--nodes", "2").succeeded();
      world.file("gpush.yaml", "env: {OMP_NUM_THREADS: \"1\"}\n");
      String head =
          "import os, time, datetime\n"
              + "import torch, torch.distributed as d\n"
              + "rank = os.environ['RANK']\n"
              + "limit = datetime.timedelta(seconds=";
      world.file(
          "late.py",
          head
              + "4)\n"
              + "if rank == '1':\n"
              + "    time.sleep(100000)\n"
              + "d.init_process_group('gloo', timeout=limit)\n");
      world.file(
          "stuck.py",
          head
              + "60)\n"
              + "d.init_process_group('gloo', timeout=limit)\n"
              + "fast = d.new_group(timeout=datetime.timedelta(seconds=3))\n"
              + "d.barrier()\n"
              + "if rank == '1':\n"
              + "    time.sleep(100000)\n"
              + "d.all_reduce(torch.ones(1), group=fast)\n");
      for (String script : List.of("late.py", "stuck.py")) {
        Result run =
            world
                .gpush("run", "--nodes", "2", "--python", torch.get(), "torchrun", script)
                .exits(1);
        Json failure = world.json("runs", "--json").items().getFirst().object("failure");
        assertEquals(Optional.of(0L), failure.number("rank"), run::toString);
        says(
            failure,
            script.equals("late.py") ? "rendezvous" : "collective-timeout",
            "rank 0 (node 0 on ",
            "(" + script + ":");
      }
    }
  }
}
