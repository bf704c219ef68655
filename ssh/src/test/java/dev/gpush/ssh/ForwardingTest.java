package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Ports and sockets of the node at the client, and the other way round. */
class ForwardingTest {
  /** Two hundred at once: over a shorter queue the kernel resets what it cannot hold. */
  private static final int BACKLOG = 1_000;

  private static final int LIMIT_SECONDS = 60;

  private static final int THOUSAND = 1_100;

  private static SshGatewayFixture rig;
  private static Tasks tasks;
  private static ServerSocketChannel tcp;
  private static ServerSocketChannel unix;
  private static Path socket;

  @BeforeAll
  static void starts() throws Exception {
    rig = new SshGatewayFixture();
    tasks = Tasks.named("test", (thread, failure) -> failure.printStackTrace());
    socket = rig.folder().resolve("s");
    tcp =
        serve(
            StandardProtocolFamily.INET,
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    unix = serve(StandardProtocolFamily.UNIX, UnixDomainSocketAddress.of(socket));
  }

  @AfterAll
  static void ends() throws Exception {
    tcp.close();
    unix.close();
    tasks.close();
    Files.deleteIfExists(socket);
    rig.close();
  }

  /** Greets, reads to the end, says how much it was, and closes. */
  private static ServerSocketChannel serve(StandardProtocolFamily family, SocketAddress at)
      throws IOException {
    var server = ServerSocketChannel.open(family);
    server.bind(at, BACKLOG);
    tasks.start(
        "serve",
        () -> {
          while (server.isOpen()) {
            try {
              SocketChannel client = server.accept();
              tasks.start("client", () -> talk(client));
            } catch (IOException closed) {
              return;
            }
          }
        });
    return server;
  }

  private static void talk(SocketChannel client) {
    try (client) {
      client.write(bytes("hello\n"));
      var buffer = ByteBuffer.allocate(64 << 10);
      long count = 0;
      for (int size = client.read(buffer); size >= 0; size = client.read(buffer.clear())) {
        count += size;
      }
      client.write(bytes("got " + count + "\n"));
    } catch (IOException gone) {
      // The test sees what it got.
    }
  }

  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
  }

  private static int port() throws IOException {
    return ((InetSocketAddress) tcp.getLocalAddress()).getPort();
  }

  /** That the kernel gives to nobody who asks for any port: those are above 32767. */
  static int freePort() throws IOException {
    while (true) {
      int port = ThreadLocalRandom.current().nextInt(20_000, 32_000);
      try (var probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return probe.getLocalPort();
      } catch (BindException taken) {
        // Then another one.
      }
    }
  }

  /** Looks on the node until this file is gone. */
  private static void isRemoved(String path) throws Exception {
    var gone = rig.ssh("devbox", "while [ -e '" + path + "' ]; do sleep 0.05; done").run();
    assertEquals(0, gone.status(), gone.errors());
  }

  /** The whole conversation with the server, the client's end closed first. */
  private static String converse(SocketChannel channel, int size) throws IOException {
    try (channel) {
      channel.write(ByteBuffer.allocate(size));
      channel.shutdownOutput();
      return new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static SocketChannel to(int port) throws IOException {
    return SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
  }

  private static void end(Process forwarding) throws Exception {
    forwarding.getOutputStream().close();
    assertEquals(0, forwarding.waitFor());
  }

  @Test
  void connectsToAPortOfTheNode() throws Exception {
    int local = freePort();
    Process ssh = rig.forwarding("-L", local + ":127.0.0.1:" + port());

    assertEquals("hello\ngot 300000\n", converse(to(local), 300_000));
    assertEquals("hello\ngot 0\n", converse(to(local), 0));
    end(ssh);
  }

  @Test
  void connectsToASocketOfTheNode() throws Exception {
    int local = freePort();
    Process ssh = rig.forwarding("-L", local + ":" + socket);

    assertEquals("hello\ngot 1000\n", converse(to(local), 1000));
    end(ssh);
  }

  @Test
  void bringsAPortOfTheNodeBack() throws Exception {
    int remote = freePort();
    Process ssh = rig.forwarding("-R", remote + ":127.0.0.1:" + port());

    assertEquals("hello\ngot 300000\n", converse(to(remote), 300_000));
    end(ssh);
  }

  /** As when the program on the laptop that the port leads to has ended. */
  @Test
  void aConnectionThatTheClientRefusesEndsAloneAndTheOthersGoOn() throws Exception {
    int remote = freePort();
    int local = freePort();
    Process ssh =
        rig.forwarding(
            "-R", remote + ":127.0.0.1:" + freePort(), "-L", local + ":127.0.0.1:" + port());

    try (var lasting = to(local)) {
      assertEquals("hello\n", hear(lasting, 6));

      assertEquals("", converse(to(remote), 0));
      assertEquals("", converse(to(remote), 0));

      assertEquals("got 10\n", converse(lasting, 10));
    }
    end(ssh);
  }

  @Test
  void choosesAPortOfTheNode() throws Exception {
    var result = rig.ssh("-v", "-R", "0:127.0.0.1:" + port(), "devbox", "true").run();

    assertEquals(0, result.status());
    assertTrue(result.errors().contains("Allocated port "), result.errors());
  }

  @Test
  void bringsASocketOfTheNodeBackAndRemovesIt() throws Exception {
    Path remote = rig.folder().resolve("r");
    Process ssh = rig.forwarding("-R", remote + ":127.0.0.1:" + port());

    assertEquals(
        "hello\ngot 5\n", converse(SocketChannel.open(UnixDomainSocketAddress.of(remote)), 5));
    end(ssh);
    isRemoved(remote.toString());
  }

  /** As after the end of a session or of the node's agent: autossh connects again. */
  @Test
  void aListenerThatEndsWithItsNodeEndsTheConnection() throws Exception {
    try (var own = new SshGatewayFixture()) {
      Path remote = own.folder().resolve("r");
      Process ssh = own.ssh("-N", "-R", remote + ":127.0.0.1:" + port(), "devbox").start();
      own.ssh("devbox", "while ! [ -e '" + remote + "' ]; do sleep 0.05; done").run();

      own.node().control("release");

      assertTrue(ssh.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS));
      assertEquals(255, ssh.exitValue());
    }
  }

  @Test
  void aProgramBesideSuchAListenerSaysFirstWhyItEnded() throws Exception {
    try (var own = new SshGatewayFixture()) {
      Path remote = own.folder().resolve("r");
      Process ssh =
          own.ssh("-R", remote + ":127.0.0.1:" + port(), "devbox", "echo ready; cat")
              .inShell("exec \"$@\" 2>&1")
              .start();
      assertEquals(
          "ready\n", new String(ssh.getInputStream().readNBytes(6), StandardCharsets.UTF_8));

      own.node().route().link().close();

      assertTrue(ssh.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS));
      assertEquals(255, ssh.exitValue());
      String said = new String(ssh.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertTrue(said.contains("the connection to devbox has ended"), said);
      own.node().control("release");
    }
  }

  @Test
  void servesASocksProxy() throws Exception {
    int local = freePort();
    Process ssh = rig.forwarding("-D", String.valueOf(local));

    try (var socks = to(local)) {
      socks.write(ByteBuffer.wrap(new byte[] {5, 1, 0}));
      var answer = ByteBuffer.allocate(12);
      var request = ByteBuffer.allocate(10).put(new byte[] {5, 1, 0, 1, 127, 0, 0, 1});
      socks.write(request.putShort((short) port()).flip());
      while (answer.hasRemaining()) {
        assertTrue(socks.read(answer) > 0);
      }
      assertEquals("hello\ngot 77\n", converse(socks, 77));
    }
    end(ssh);
  }

  @Test
  void opensManyConnectionsAtOnce() throws Exception {
    int local = freePort();
    int count = 200;
    Process ssh = rig.forwarding("-L", local + ":127.0.0.1:" + port());

    Work<String, Exception> work = () -> converse(to(local), 1000);
    List<String> answers = tasks.all("many", Collections.nCopies(count, work));

    answers.forEach(answer -> assertEquals("hello\ngot 1000\n", answer));
    end(ssh);
  }

  /** Issue 14, line 21: a busy {@code -D} has that many. */
  @Test
  @Tag("speed")
  void keepsMoreThanAThousandConnectionsOpen() throws Exception {
    int local = freePort();
    Process ssh = rig.forwarding("-L", local + ":127.0.0.1:" + port());
    var open = new ArrayList<SocketChannel>();
    try {
      for (int i = 0; i < THOUSAND; i++) {
        SocketChannel connection = to(local);
        open.add(connection);
        assertEquals("hello\n", hear(connection, 6), "connection " + i);
      }
      for (SocketChannel connection : open) {
        assertEquals("got 10\n", converse(connection, 10));
      }
    } finally {
      for (SocketChannel connection : open) {
        connection.close();
      }
    }
    end(ssh);
  }

  private static String hear(SocketChannel connection, int size) throws IOException {
    var bytes = ByteBuffer.allocate(size);
    while (bytes.hasRemaining() && connection.read(bytes) >= 0) {
      // Until all of it has come.
    }
    return new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
  }

  @Test
  void saysThatAPortIsClosed() throws Exception {
    int closed = freePort();

    var result = rig.ssh("-W", "127.0.0.1:" + closed, "devbox").run();

    assertEquals(255, result.status());
    assertTrue(
        result.errors().contains("connect failed: connecting to 127.0.0.1:" + closed + ": refused"),
        result.errors());
  }

  @Test
  void saysThatANodeIsNotThere() throws Exception {
    var result = rig.ssh("-W", "127.0.0.1:1", "devbox-1").run();

    assertEquals(255, result.status());
    assertTrue(
        result.errors().contains("administratively prohibited: node 1 of devbox cannot be reached"),
        result.errors());
  }

  @Test
  void refusesToListenOnATakenPort() throws Exception {
    var result =
        rig.ssh("-o", "ExitOnForwardFailure=yes", "-R", port() + ":127.0.0.1:1", "devbox", "true")
            .run();

    assertEquals(255, result.status());
    assertFalse(result.errors().isEmpty());
  }

  @Test
  void letsTheServerSpeakFirstAndHalfClose() throws Exception {
    var result = rig.ssh("-W", "127.0.0.1:" + port(), "devbox").input("abc").run();

    assertEquals("hello\ngot 3\n", result.text());
  }

  @Test
  void lendsTheClientsAgentToTheNode() throws Exception {
    String script =
        """
        eval "$(ssh-agent -s)" >/dev/null
        trap 'kill "$SSH_AGENT_PID"' EXIT
        ssh-add -q "$1"
        shift
        "$@"
        """;
    var ssh = new ArrayList<>(List.of("bash", "-c", script, "bash", key(), "ssh", "-A", "-F"));
    ssh.addAll(
        List.of(
            rig.home().resolve("ssh_config").toString(),
            "devbox",
            "for i in 1 2 3; do ssh-add -l & done; wait; echo $SSH_AUTH_SOCK"));

    var result = new Command(ssh, rig.folder()).run();

    List<String> lines = result.text().lines().toList();
    assertEquals(4, lines.size(), result.text() + result.errors());
    assertTrue(lines.getFirst().contains("(ED25519)"), lines.getFirst());
    isRemoved(lines.getLast());
  }

  private static String key() {
    return rig.home().resolve("keys/id_ed25519").toString();
  }
}
