package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Ends of input and output, each by whoever comes first, and a real client at the other end. */
final class EndsTest {
  private static final int BULK = 3_000_000;

  private static SshGatewayFixture rig;

  @BeforeAll
  static void starts() throws Exception {
    rig = new SshGatewayFixture();
  }

  @AfterAll
  static void ends() throws Exception {
    rig.close();
  }

  private static byte[] random(int size, long seed) {
    var bytes = new byte[size];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  @Test
  void aFileOfAnySizeComesBackAndThenTheStatus() throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.err.println("EndsTest seed " + seed + " (-Dgpush.seed)");
    int any = new Random(seed).nextInt(BULK);
    for (int size : List.of(0, 1, 65_535, 65_536, 131_073, any)) {
      byte[] bytes = random(size, seed);

      var result = rig.ssh("devbox", "cat; exit 5").input(bytes).run();

      assertArrayEquals(bytes, result.bytes(), "size " + size + ", seed " + seed);
      assertEquals(5, result.status());
    }
  }

  @Test
  void aCommandThatClosesItsInputIsNotHeldByWhatIsSent() throws Exception {
    var little = rig.ssh("devbox", "exec <&-; echo gone; exit 3").input(random(BULK, 1)).run();
    var much =
        rig.ssh("devbox", "exec <&-; head -c " + BULK + " /dev/zero; exit 4")
            .input(random(BULK, 2))
            .run();

    assertEquals("gone\n", little.text());
    assertEquals(3, little.status());
    assertArrayEquals(new byte[BULK], much.bytes());
    assertEquals(4, much.status());
  }

  @Test
  void aClientWithoutInputStillHearsAll() throws Exception {
    var none = rig.ssh("-n", "devbox", "cat; head -c " + BULK + " /dev/zero; exit 6").run();

    assertArrayEquals(new byte[BULK], none.bytes());
    assertEquals(6, none.status());
  }

  /** The status comes with the end of the shell, the end of file with that of its last child. */
  @Test
  void whatTheShellHasLeftBehindMayStillWriteMuch() throws Exception {
    String left = "(head -c " + BULK + " /dev/zero; echo late)";

    var result = rig.ssh("devbox", left + " & head -c " + BULK + " /dev/zero").run();

    assertEquals(0, result.status(), result.errors());
    assertEquals(2 * BULK + "late\n".length(), result.bytes().length);
  }

  /** As under sshd, where the program gets SIGPIPE. */
  @Test
  void aClientThatDiesWhileBothDirectionsAreFullLeavesNoProgram() throws Exception {
    Process ssh = rig.ssh("devbox", "echo $$; exec cat").start();
    var pid = new StringBuilder();
    for (int next = ssh.getInputStream().read(); next != '\n'; next = ssh.getInputStream().read()) {
      pid.append((char) next);
    }
    ProcessHandle cat = ProcessHandle.of(Long.parseLong(pid.toString())).orElseThrow();
    var sent = new AtomicLong();
    Thread feeding = Thread.ofVirtual().start(() -> feedAll(ssh, sent));
    awaitFull(sent);

    ssh.destroyForcibly().waitFor();

    cat.onExit().get(1, TimeUnit.MINUTES);
    feeding.join();
  }

  private static void feedAll(Process process, AtomicLong sent) {
    try (OutputStream stdin = process.getOutputStream()) {
      while (true) {
        stdin.write(new byte[1 << 16]);
        sent.addAndGet(1 << 16);
      }
    } catch (IOException killed) {
      // As the test wants it.
    }
  }

  /** Where the last bytes are does not matter: the test holds in every state. */
  private static void awaitFull(AtomicLong sent) {
    long before = -1;
    for (int same = 0; same < 300; ) {
      LockSupport.parkNanos(1_000_000);
      long now = sent.get();
      same = now == before && now > 0 ? same + 1 : 0;
      before = now;
    }
  }

  @Test
  void eitherEndOfAForwardMayCloseItsHalfFirst() throws Exception {
    try (var server = new ServerSocket(0, 2, InetAddress.getLoopbackAddress())) {
      int local = ForwardingTest.freePort();
      Process ssh = rig.forwarding("-L", local + ":127.0.0.1:" + server.getLocalPort());
      try (var client = new Socket(InetAddress.getLoopbackAddress(), local);
          Socket far = server.accept()) {
        halvesClose(client, far);
      }
      try (var client = new Socket(InetAddress.getLoopbackAddress(), local);
          Socket far = server.accept()) {
        halvesClose(far, client);
      }
      ssh.getOutputStream().close();
      assertEquals(0, ssh.waitFor());
    }
  }

  /** One says all it has to say and closes its half; the other has heard it, and says as much. */
  private static void halvesClose(Socket first, Socket second) throws Exception {
    byte[] there = random(BULK, 3);
    byte[] back = random(BULK, 4);
    Thread saying = Thread.ofVirtual().start(() -> say(first, there));
    assertArrayEquals(there, second.getInputStream().readAllBytes());
    saying.join();
    Thread answering = Thread.ofVirtual().start(() -> say(second, back));
    assertArrayEquals(back, first.getInputStream().readAllBytes());
    answering.join();
  }

  private static void say(Socket socket, byte[] bytes) {
    try {
      OutputStream output = socket.getOutputStream();
      output.write(bytes);
      socket.shutdownOutput();
    } catch (IOException broken) {
      throw new IllegalStateException(broken);
    }
  }

  /** The kernel may lose what ssh had not read yet, but nothing else, and nothing in between. */
  @Test
  void aForwardEndsAfterWhatItsDeadClientHadSent() throws Exception {
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int local = ForwardingTest.freePort();
      Process ssh = rig.forwarding("-L", local + ":127.0.0.1:" + server.getLocalPort());
      try (var client = new Socket(InetAddress.getLoopbackAddress(), local);
          Socket far = server.accept()) {
        byte[] bytes = random(1 << 16, 7);
        client.getOutputStream().write(bytes);
        byte[] first = far.getInputStream().readNBytes(1);
        ssh.destroyForcibly().waitFor();

        byte[] rest = far.getInputStream().readAllBytes();

        assertEquals(bytes[0], first[0]);
        assertArrayEquals(Arrays.copyOfRange(bytes, 1, 1 + rest.length), rest);
      }
    }
  }

  /** The client first: OpenSSH's own ends altogether when the far side ends its half. */
  @Test
  void standardInputAndOutputMayBeAForward() throws Exception {
    byte[] there = random(BULK, 5);
    byte[] back = random(BULK, 6);
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Process ssh = rig.ssh("-W", "127.0.0.1:" + server.getLocalPort(), "devbox").start();
      try (Socket far = server.accept()) {
        Thread saying = Thread.ofVirtual().start(() -> feed(ssh, there));
        assertArrayEquals(there, far.getInputStream().readAllBytes());
        saying.join();
        Thread answering = Thread.ofVirtual().start(() -> say(far, back));
        assertArrayEquals(back, ssh.getInputStream().readAllBytes());
        answering.join();
      }
      assertEquals(0, ssh.waitFor());
    }
  }

  private static void feed(Process process, byte[] bytes) {
    try (OutputStream stdin = process.getOutputStream()) {
      stdin.write(bytes);
    } catch (IOException broken) {
      throw new IllegalStateException(broken);
    }
  }
}
