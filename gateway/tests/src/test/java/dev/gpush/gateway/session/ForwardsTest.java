package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.session.PortForward;
import dev.gpush.core.session.PortTarget;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Ports of this machine that lead to servers of nodes, with real agents and real sockets. */
@Execution(ExecutionMode.CONCURRENT)
final class ForwardsTest {
  private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
  private static final int MEBIBYTE = 1 << 20;

  private SessionRig rig;
  private GatewaySessions gateway;
  private Path project;

  @BeforeEach
  void begin() throws Exception {
    rig = SessionRig.calm();
    gateway = rig.gateway();
    project = rig.project("project");
  }

  @AfterEach
  void end() throws Exception {
    rig.close();
  }

  private int forwarded(int port) throws InterruptedException {
    return gateway
        .forward(DEVBOX, new PortTarget(Optional.of(1), port), Optional.empty())
        .getFirst()
        .local();
  }

  @Test
  void bytesPassBothWaysAndEachSideMayEndFirst() throws Exception {
    gateway.up(ask(project, 2), Talk.silent());
    byte[] sent = new byte[4 * MEBIBYTE];
    new Random(7).nextBytes(sent);
    try (var server = new ServerSocket(0, 1, LOOPBACK);
        Tasks tasks = rig.tasks().group("echo");
        var client = new Socket(LOOPBACK, forwarded(server.getLocalPort()))) {
      tasks.start("server", () -> echo(server));
      tasks.start("client", () -> send(client, sent));

      assertArrayEquals(sent, client.getInputStream().readAllBytes());
    }
  }

  private static void send(Socket client, byte[] bytes) {
    try {
      client.getOutputStream().write(bytes);
      client.shutdownOutput();
    } catch (IOException broken) {
      throw new IllegalStateException(broken);
    }
  }

  private static void echo(ServerSocket server) {
    try (Socket one = server.accept()) {
      one.getInputStream().transferTo(one.getOutputStream());
    } catch (IOException broken) {
      throw new IllegalStateException(broken);
    }
  }

  @Test
  void aPortThatNothingListensOnEndsTheConnection() throws Exception {
    gateway.up(ask(project, 2), Talk.silent());
    // It has the port and does not listen, so that no other program can.
    try (var silent = new Socket()) {
      silent.bind(new InetSocketAddress(LOOPBACK, 0));
      try (var client = new Socket(LOOPBACK, forwarded(silent.getLocalPort()))) {
        assertEquals(-1, client.getInputStream().read());
      }
    }
  }

  /** Not on a port of those that the system gives away: another program could get its neighbour. */
  private static ServerSocket listen() throws IOException {
    var random = new Random();
    while (true) {
      try {
        return new ServerSocket(random.nextInt(12_000, 28_000), 1, LOOPBACK);
      } catch (BindException taken) {
        // The next one may be free.
      }
    }
  }

  @Test
  void theNextGatewayListensOnTheSamePort() throws Exception {
    gateway.up(ask(project, 2), Talk.silent());
    try (ServerSocket server = listen()) {
      int here = forwarded(server.getLocalPort());
      gateway.close();
      assertThrows(ConnectException.class, () -> new Socket(LOOPBACK, here).close());

      gateway = rig.gateway();
      gateway.recover();
      gateway.up(ask(project, 2), Talk.silent());

      assertEquals(
          List.of(new PortForward(1, server.getLocalPort(), here)), gateway.forwards(DEVBOX));
      try (var client = new Socket(LOOPBACK, here);
          Socket arrived = server.accept()) {
        client.getOutputStream().write(42);
        assertEquals(42, arrived.getInputStream().read());
      }
    }
  }

  /** Else a notebook's token would go to the program that has taken the port meanwhile. */
  @Test
  void aPortThatAnotherProgramHasTakenIsReplaced() throws Exception {
    gateway.up(ask(project, 2), Talk.silent());
    try (ServerSocket server = listen()) {
      int before = forwarded(server.getLocalPort());
      gateway.close();
      try (var other = new ServerSocket(before, 1, LOOPBACK)) {
        gateway = rig.gateway();
        gateway.recover();
        gateway.up(ask(project, 2), Talk.silent());

        int here = forwarded(server.getLocalPort());

        assertNotEquals(other.getLocalPort(), here);
        assertEquals(
            List.of(new PortForward(1, server.getLocalPort(), here)), gateway.forwards(DEVBOX));
        try (var client = new Socket(LOOPBACK, here);
            Socket arrived = server.accept()) {
          client.getOutputStream().write(42);
          assertEquals(42, arrived.getInputStream().read());
        }
      }
    }
  }

  @Test
  void aRemovedForwardAndAnEndedSessionListenNoLonger() throws Exception {
    gateway.up(ask(project, 2), Talk.silent());
    int first = forwarded(7001);
    int second = forwarded(7002);

    assertTrue(gateway.unforward(DEVBOX, first).isPresent());
    assertThrows(ConnectException.class, () -> new Socket(LOOPBACK, first).close());

    gateway.down(DEVBOX, true, Talk.silent());
    assertThrows(ConnectException.class, () -> new Socket(LOOPBACK, second).close());
  }

  @Test
  void portsOfTheProjectAreForwardedAndTakenOnesRefused() throws Exception {
    Files.writeString(project.resolve("gpush.yaml"), "ports: [7003, \"all:7004\", \"5:7005\"]\n");
    gateway.up(ask(project, 2), Talk.silent());

    assertEquals(
        List.of("0:7003", "0:7004", "1:7004"),
        gateway.forwards(DEVBOX).stream().map(each -> each.node() + ":" + each.port()).toList());
    try (var taken = new ServerSocket(0, 1, LOOPBACK)) {
      assertInstanceOf(
          SessionFailure.PortTaken.class, refused(0, 80, Optional.of(taken.getLocalPort())));
    }
    assertInstanceOf(SessionFailure.UnknownNode.class, refused(2, 80, Optional.empty()));
  }

  private Object refused(int node, int port, Optional<Integer> local) {
    var target = new PortTarget(Optional.of(node), port);
    return assertThrows(GpushException.class, () -> gateway.forward(DEVBOX, target, local))
        .failure();
  }
}
