package dev.gpush.link;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.link.machine.LinkLimits;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Many streams of one link with a real agent: none slows another, and each costs what it may. */
@Isolated("it compares speeds")
@Tag("speed")
class FairnessTest {
  private static final int MOST_ROUNDS = 100;

  /** Of the speed: what is left beside streams that do not move, on any machine. */
  private static final double ENOUGH = 0.4;

  private AgentNode node;
  private Link link;

  @BeforeEach
  void startsAnAgent() throws Exception {
    node = new AgentNode();
    link = node.connected();
  }

  @AfterEach
  void releasesTheAgent() throws Exception {
    link.close();
    node.close();
  }

  private BlockingStream command(String command) {
    return link.open(Json.object("type", "exec", "stdin", false, "command", command));
  }

  private long nanosOfBulk() throws Exception {
    long start = System.nanoTime();
    var bulk = command("head -c 33554432 /dev/zero");
    assertEquals(32 << 20, bulk.output(0).readAllBytes().length);
    assertEquals(Json.object("exit", 0), bulk.awaitClose());
    return System.nanoTime() - start;
  }

  /**
   * The best alone and the best beside, taken in turn until they are close: the machine may be busy
   * with others at any time. A stopped reader that slows others does so in every round.
   */
  @Test
  void aReaderThatHasStoppedSlowsNobodyAndCostsItsWindow() throws Exception {
    var stopped = new ArrayList<BlockingStream>();
    nanosOfBulk();
    long alone = Long.MAX_VALUE;
    long beside = Long.MAX_VALUE;
    for (int round = 0; round == 0 || round < MOST_ROUNDS && alone < ENOUGH * beside; round++) {
      alone = Math.min(alone, nanosOfBulk());
      for (int i = 0; i < 4; i++) {
        var yes = command("yes");
        yes.output(0).readNBytes(1 << 20);
        stopped.add(yes);
      }
      beside = Math.min(beside, nanosOfBulk());
      for (BlockingStream stream : stopped) {
        assertTrue(stream.output(0).available() <= LinkLimits.MAX_WINDOW);
        stream.close();
      }
      stopped.clear();
    }
    double ratio = (double) alone / beside;
    System.out.printf("beside four stopped readers bulk keeps %.0f %% of its speed%n", 100 * ratio);
    assertTrue(ratio >= ENOUGH, "kept " + ratio);
  }

  @Test
  void twoHundredStreamsAtOnceEachGetTheirOwnBytes() throws Exception {
    try (var server = new ServerSocket(0, 200, InetAddress.getLoopbackAddress())) {
      node.tasks().start("echo", () -> echo(server));
      var streams = new ArrayList<BlockingStream>();
      for (int i = 0; i < 200; i++) {
        streams.add(
            link.open(
                Json.object("type", "tcp", "host", "127.0.0.1", "port", server.getLocalPort())));
      }
      for (int i = 0; i < 200; i++) {
        streams.get(i).input().write(bytes(i));
        streams.get(i).input().close();
      }
      for (int i = 0; i < 200; i++) {
        assertArrayEquals(bytes(i), streams.get(i).output(0).readAllBytes());
        streams.get(i).awaitClose();
      }
    }
    assertEquals(List.of(), link.call("status", Json.object()).items("runs"));
  }

  private static byte[] bytes(int number) {
    return ("stream " + number + "\n").repeat(500).getBytes(StandardCharsets.UTF_8);
  }

  private void echo(ServerSocket server) {
    try {
      while (true) {
        Socket socket = server.accept();
        node.tasks().start("one", () -> echo(socket));
      }
    } catch (IOException closed) {
      // The test is over.
    }
  }

  private static void echo(Socket socket) {
    try (socket) {
      socket.getInputStream().transferTo(socket.getOutputStream());
    } catch (IOException gone) {
      throw new AssertionError(gone);
    }
  }
}
