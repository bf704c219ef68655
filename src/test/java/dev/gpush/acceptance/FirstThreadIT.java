package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpush.core.json.Json;
import dev.gpush.testkit.fixture.FolderTree;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * From nothing to ranks that talk on a reserved gang, and {@code ssh devbox}: what issue 3 says
 * must be seen.
 */
@Execution(ExecutionMode.CONCURRENT)
final class FirstThreadIT {
  @Test
  void ranksOfTwoNodesTalkAndTheGangStaysWarm() throws Exception {
    try (World world = World.fresh()) {
      world.example("examples/hello/train.py");

      Result first = world.gpush("run", "--nodes", "2", "examples/hello/train.py").succeeded();
      Result second = world.gpush("run", "examples/hello/train.py").succeeded();

      for (Result run : List.of(first, second)) {
        assertTrue(run.out().contains("[0] rank 0 of 2"), run::toString);
        assertTrue(run.out().contains("[1] rank 1 of 2"), run::toString);
        assertTrue(run.out().contains("sum = "), run::toString);
      }
      assertEquals(1, world.json("ps", "--json").items().size());
    }
  }

  @Test
  void runDownGivesTheGangBackAtOnce() throws Exception {
    try (World world = World.fresh()) {
      world.example("examples/hello/train.py");

      world.gpush("run", "--nodes", "2", "--down", "examples/hello/train.py").succeeded();

      assertEquals(0, world.json("ps", "--json").items().size());
      assertEquals(List.of(), world.agents());
    }
  }

  @Test
  void everythingIsReachedAndNothingIsLeft() throws Exception {
    try (World world = World.fresh()) {
      world.file("src/model.py", "x = 1\n");
      world.gpush("up", "--nodes", "2").succeeded();

      Json session = world.json("ps", "--json").items().getFirst();
      assertEquals("devbox", session.text("name").orElse(""));
      assertEquals("ready", session.text("state").orElse(""));

      Result hosts = world.gpush("exec", "--all", "hostname").succeeded();
      assertEquals(2, hosts.out().lines().count(), hosts::toString);
      assertEquals(
          "x = 1\n", world.gpush("exec", "--on", "1", "cat", "src/model.py").succeeded().out());
      assertEquals("3\n", world.gpush("exec", "echo $((1+2))").succeeded().out());
      world.gpush("exec", "sh", "-c", "exit 9").exits(9);

      sshGivesBytesAndStatus(world);
      sftpCopiesBothWays(world);
      forwardReachesTheNode(world);
      keptForwardReachesTheNode(world);
      String opened = editorsFolder(world);

      world.gpush("down").succeeded();
      assertEquals(List.of(), world.agents());
      assertEquals(List.of(), world.nodeFolders());

      world.gpush("up", "--nodes", "2").succeeded();
      assertEquals(opened, editorsFolder(world));
    }
  }

  /** What an editor is told to open leads to the files of the node, in the next session too. */
  private static String editorsFolder(World world) throws Exception {
    String line = world.gpush("code", "--print", "--on", "1", "src").succeeded().out();
    String folder = line.substring(line.lastIndexOf(' ') + 1).strip();
    assertEquals("code --remote ssh-remote+devbox-1 " + folder + "\n", line);
    Result file =
        world.run(
            new byte[0],
            "ssh",
            "-F",
            world.sshConfig().toString(),
            "devbox-1",
            "cat " + folder + "/model.py");
    assertEquals("x = 1\n", file.succeeded().out());
    return folder;
  }

  private static void keptForwardReachesTheNode(World world) throws Exception {
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Json forward =
          world.json("forward", "1:" + server.getLocalPort(), "--json").items().getFirst();
      int port = Math.toIntExact(forward.number("local").orElseThrow());
      try (var client = new Socket(InetAddress.getLoopbackAddress(), port);
          Socket node = server.accept()) {
        eachSideSpeaksAndEnds(client, node);
      }
    }
  }

  private static void sshGivesBytesAndStatus(World world) throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.err.println("FirstThreadIT seed " + seed + " (-Dgpush.seed)");
    byte[] input = new byte[5_000_000];
    new Random(seed).nextBytes(input);

    byte[] output =
        world.bytes(input, 7, "ssh", "-F", world.sshConfig().toString(), "devbox", "cat; exit 7");

    assertArrayEquals(input, output);
    Result node =
        world.run(
            new byte[0], "ssh", "-F", world.sshConfig().toString(), "devbox-1", "echo $GPUSH_NODE");
    assertEquals("1\n", node.succeeded().out());
  }

  private static void sftpCopiesBothWays(World world) throws Exception {
    Path local = world.file("../up.bin", "bytes of a file\n".repeat(10_000));
    Path back = world.home().resolve("../back.bin").normalize();
    String folder = world.home().toString();
    String script =
        "put "
            + local.normalize()
            + " "
            + folder
            + "/sent.bin\nget "
            + folder
            + "/sent.bin "
            + back
            + "\nrm "
            + folder
            + "/sent.bin\n";

    world
        .run(
            script.getBytes(StandardCharsets.UTF_8),
            "sftp",
            "-F",
            world.sshConfig().toString(),
            "-b",
            "-",
            "devbox")
        .succeeded();

    assertEquals(-1, Files.mismatch(local, back));
  }

  private static void eachSideSpeaksAndEnds(Socket client, Socket node) throws Exception {
    OutputStream out = node.getOutputStream();
    out.write("server speaks first".getBytes(StandardCharsets.UTF_8));
    node.shutdownOutput();
    assertEquals(
        "server speaks first",
        new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
    client.getOutputStream().write("after half-close".getBytes(StandardCharsets.UTF_8));
    client.shutdownOutput();
    assertEquals(
        "after half-close",
        new String(node.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
  }

  private static void forwardReachesTheNode(World world) throws Exception {
    int port = World.freePort();
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Process forward = world.forward(port, server.getLocalPort());
      var connected = new ArrayList<Socket>();
      World.until(
          "forward is up",
          () -> {
            try {
              var socket = new Socket();
              socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
              return connected.add(socket);
            } catch (java.io.IOException notYet) {
              return false;
            }
          });
      try (Socket client = connected.getFirst();
          Socket node = server.accept()) {
        eachSideSpeaksAndEnds(client, node);
      } finally {
        forward.destroy();
      }
    }
  }

  @Test
  void aRunDoesNotNoticeThatTheGatewayIsKilled() throws Exception {
    try (World world = World.fresh()) {
      Path go = world.home().resolve("go");
      world.file(
          "count.py",
          """
          import os, sys, time
          go = %r
          rank = os.environ["RANK"]
          for i in range(2000):
              print("line", i, flush=True)
              if i == 1000:
                  while not os.path.exists(go):
                      time.sleep(0.01)
          """
              .replace("%r", "'" + go + "'"));
      Process run = world.startGpush("run", "--nodes", "2", "count.py");
      var output =
          new BufferedReader(new InputStreamReader(run.getInputStream(), StandardCharsets.UTF_8));
      String line = output.readLine();
      while (line != null && !line.endsWith("line 1000")) {
        line = output.readLine();
      }

      world.killGateway();
      run.waitFor();
      Process logs = world.startGpush("logs", "-f");
      Files.createFile(go);
      String all = new String(logs.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

      assertEquals(0, logs.waitFor(), all);
      for (int rank = 0; rank < 2; rank++) {
        String prefix = "[" + rank + "] ";
        List<String> lines = all.lines().filter(each -> each.startsWith(prefix)).toList();
        assertEquals(2000, lines.size(), "rank " + rank);
        for (int i = 0; i < 2000; i++) {
          assertEquals(prefix + "line " + i, lines.get(i));
        }
      }
    }
  }

  @Test
  void theExitStatusIsThatOfTheFirstFailingRankAndTheOthersAreStopped() throws Exception {
    try (World world = World.fresh()) {
      world.file(
          "fail.py",
          """
          import os, sys, time
          if os.environ["RANK"] == "1":
              sys.exit(42)
          time.sleep(600)
          """);

      Result run = world.gpush("run", "--nodes", "2", "fail.py");

      run.exits(42);
      assertTrue(run.err().contains("rank 1"), run::toString);
      assertEquals(
          "failed", world.json("runs", "--json").items().getFirst().text("state").orElse(""));
    }
  }

  @Test
  @Tag("local")
  void twoRunsFitSideBySideAndAThirdDoesNot() throws Exception {
    try (World world = World.fresh()) {
      world.file("wait.py", "import time\ntime.sleep(600)\n");
      world.gpush("up", "--nodes", "2").succeeded();

      world.gpush("run", "--detach", "--nodes", "1", "wait.py").succeeded();
      world.gpush("run", "--detach", "--nodes", "1", "wait.py").succeeded();
      Result third = world.gpush("run", "--detach", "--nodes", "1", "wait.py");

      third.exits(255);
      assertTrue(third.err().contains("gpush stop"), third::toString);
      var claimed = new TreeSet<String>();
      for (Json run : world.json("runs", "--json").items()) {
        claimed.addAll(run.texts("slots"));
        world.gpush("stop", run.number("run").orElseThrow().toString()).succeeded();
      }
      assertEquals(2, claimed.size(), claimed::toString);
    }
  }

  @Test
  void onlyWhatChangedTravelsAndForeignFilesStay() throws Exception {
    try (World world = World.fresh()) {
      world.file("a.txt", "one\n");
      world.file("b.txt", "gone soon\n");
      world.file(".gitignore", "*.log\n");
      world.file("noise.log", "ignored\n");
      world.gpush("up", "--nodes", "2").succeeded();
      world
          .gpush("exec", "--all", "sh", "-c", "echo mine > result.pt; test ! -e noise.log")
          .succeeded();

      world.file("a.txt", "two\n");
      Files.delete(world.project().resolve("b.txt"));
      world
          .gpush("run", "--nodes", "2", "sh", "-c", "cat a.txt; test ! -e b.txt; cat result.pt")
          .succeeded();

      Result kept = world.gpush("down").succeeded();
      assertTrue((kept.out() + kept.err()).contains("result.pt"), kept::toString);
      try (var files = Files.walk(world.home().resolve("nodes"))) {
        assertEquals(2, files.filter(file -> file.endsWith("result.pt")).count());
      }
      FolderTree.delete(world.home().resolve("nodes"));
    }
  }

  @Test
  @Tag("gate")
  void editsOfBothSidesAreEverywhere() throws Exception {
    try (World world = World.fresh()) {
      world.gpush("up", "--nodes", "2").succeeded();
      EditsOfBothSides.areEverywhere(world);
      world.gpush("down").succeeded();
    }
  }

  @Test
  @Tag("gate")
  void torchrunTrainsOnTwoNodes() throws Exception {
    Optional<String> python = World.rig("torch");
    assumeTrue(python.isPresent(), "the torch rig is down: src/test/rigs/torch up");
    try (World world = World.fresh()) {
      world.example("examples/ddp/train.py");

      Result run =
          world
              .gpush(
                  "run", "--nodes", "2", "--python", python.orElseThrow(), "examples/ddp/train.py")
              .succeeded();

      assertTrue(run.err().contains("torch"), run::toString);
      assertTrue(run.out().contains("[0] "), run::toString);
      assertTrue(run.out().contains("[1] "), run::toString);
    }
  }
}
