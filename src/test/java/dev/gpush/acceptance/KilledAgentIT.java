package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.testkit.rig.KubernetesRig;
import dev.gpush.testkit.rig.SlurmRig;
import dev.gpush.testkit.rig.SshRig;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A killed agent is not a lost node, on any kind of nodes. */
@Execution(ExecutionMode.CONCURRENT)
@Tag("chaos")
final class KilledAgentIT {
  /** Answers each connection with a line, until its node is given back; says its port first. */
  private static final String SERVER =
      """
      import socket, sys
      server = socket.socket()
      server.bind(("127.0.0.1", 0))
      server.listen()
      print(server.getsockname()[1], flush=True)
      while True:
          with server.accept()[0] as client:
              client.sendall(b"here\\n")
      """;

  @Test
  void onThisMachine() throws Exception {
    goesOn(RealNodes.local());
  }

  @Test
  @ResourceLock(SshRig.NAME)
  void onHosts() throws Exception {
    goesOn(RealNodes.ssh());
  }

  @Test
  @ResourceLock(SlurmRig.DEFAULT)
  void onSlurm() throws Exception {
    goesOn(RealNodes.slurm());
  }

  @Test
  @ResourceLock(KubernetesRig.PLAIN)
  void inPods() throws Exception {
    goesOn(RealNodes.kubernetes());
  }

  @Test
  @ResourceLock(KubernetesRig.PLAIN)
  void inPodsOfOthers() throws Exception {
    goesOn(RealNodes.attached());
  }

  private static void goesOn(RealNodes nodes) throws Exception {
    try (nodes) {
      World world = nodes.world();
      world.file("wait.sh", "while [ ! -e go ]; do sleep 0.05; done; echo on\n");
      world.file("server.py", SERVER);
      var up = new ArrayList<>(List.of("up"));
      if (!nodes.gpus().contains("--attach")) {
        up.addAll(List.of("--nodes", "2"));
      }
      up.addAll(nodes.gpus());
      world.gpush(up.toArray(String[]::new)).succeeded();
      Process run = world.startGpush("run", "--nodes", "2", "sh", "wait.sh");
      CompletableFuture<byte[]> out = World.read(run.getInputStream());
      CompletableFuture<byte[]> err = World.read(run.getErrorStream());
      World.until("the run is there", () -> !runs(world).isEmpty());
      String serve = "setsid nohup python3 server.py >port 2>/dev/null </dev/null & ";
      String port =
          world
              .gpush("exec", serve + "until [ -s port ]; do sleep 0.05; done; cat port")
              .succeeded()
              .out()
              .strip();
      int here = World.freePort();
      world.forward(here, Integer.parseInt(port));
      World.until("the forward works", () -> said(here).equals("here"));
      Process terminal =
          world.start(world.project(), world.ssh("-tt", "devbox", "echo there; sleep 600"));
      var first = new BufferedReader(new InputStreamReader(terminal.getInputStream()));
      assertEquals("there", first.readLine());
      Process command = world.startGpush("exec", "echo $$; sleep 600; true");
      var pid = new BufferedReader(new InputStreamReader(command.getInputStream()));
      String alone = pid.readLine();

      List<Json> before = world.json("nodes", "--json").items();
      for (int node = 0; node < before.size(); node++) {
        String host = before.get(node).text("host").orElse("");
        nodes.killer().kill(node, host, agent(before.get(node)));
      }
      assertEquals(255, terminal.waitFor());
      assertEquals(255, command.waitFor());
      World.until("its process ends, too", () -> isOver(world, alone));
      World.until("the server is reached", () -> said(here).equals("here"));
      world.gpush("exec", "--all", "touch go").succeeded();
      assertEquals(0, run.waitFor(), () -> new String(err.join(), StandardCharsets.UTF_8));
      assertEquals("[0] on\n[1] on\n", sorted(new String(out.join(), StandardCharsets.UTF_8)));
      List<Json> after = world.json("nodes", "--json").items();
      for (int node = 0; node < after.size(); node++) {
        assertNotEquals(agent(before.get(node)), agent(after.get(node)));
      }
      Json session = world.json("ps", "--json").items().getFirst();
      assertEquals("ready", session.text("state").orElse(""), session::write);
      assertTrue(
          session.text("detail").orElse("").contains("its agent was killed"), session::write);
      world.gpush("exec", "--all", "rm -f go port").succeeded();
      world.gpush("down", "--discard").succeeded();
    }
  }

  private static long agent(Json node) {
    return node.number("agent_pid").orElseThrow();
  }

  /** What the server behind the forward says; the forward may have to connect again. */
  private static String said(int port) {
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      var line = new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine();
      return line == null ? "" : line;
    } catch (IOException broken) {
      return "";
    }
  }

  private static boolean isOver(World world, String pid) {
    try {
      return world.gpush("exec", "! kill -0 " + pid + " 2>/dev/null").exit() == 0;
    } catch (Exception failed) {
      throw new AssertionError(failed);
    }
  }

  private static List<Json> runs(World world) {
    try {
      return world.json("runs", "--json").items();
    } catch (Exception failed) {
      throw new AssertionError(failed);
    }
  }

  private static String sorted(String text) {
    return text.lines().sorted().reduce("", (all, line) -> all + line + "\n");
  }
}
