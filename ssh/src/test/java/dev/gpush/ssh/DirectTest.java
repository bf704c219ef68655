package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A node that is this machine: what passes neither the link nor the agent arrives all the same. */
@Tag("local")
class DirectTest {
  private static final int BULK = 8 << 20;
  private static final long SEED = Long.getLong("gpush.seed", new Random().nextLong());

  private static Rig rig;
  private static byte[] random;

  @BeforeAll
  static void starts() throws Exception {
    System.out.println("seed of the bytes: " + SEED);
    random = new byte[BULK];
    new Random(SEED).nextBytes(random);
    rig = new Rig(AgentNode::here);
  }

  @AfterAll
  static void ends() throws Exception {
    rig.close();
  }

  private static ServerSocket server() throws IOException {
    return new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
  }

  private static Socket to(int port) throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), port);
  }

  /**
   * Whether the other end of a server's connection belongs to this process, as the gateway does.
   */
  private static boolean isOurs(Socket accepted) throws IOException {
    int port = ((InetSocketAddress) accepted.getRemoteSocketAddress()).getPort();
    String local = "0100007F:%04X".formatted(port);
    String inode =
        Files.readAllLines(Path.of("/proc/self/net/tcp")).stream()
            .map(line -> line.strip().split(" +"))
            .filter(fields -> fields[1].equals(local))
            .map(fields -> fields[9])
            .findFirst()
            .orElseThrow();
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      return all.anyMatch(path -> target(path).equals("socket:[" + inode + "]"));
    }
  }

  private static String target(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException closedMeanwhile) {
      return "";
    }
  }

  /** Connects until a connection is the gateway's own: the agent must have accepted that first. */
  private static Socket[] connection(int local, ServerSocket server) throws IOException {
    while (true) {
      Socket client = to(local);
      Socket accepted = server.accept();
      if (isOurs(accepted)) {
        return new Socket[] {client, accepted};
      }
      client.close();
      accepted.close();
    }
  }

  private static void end(Process ssh) throws Exception {
    ssh.getOutputStream().close();
    assertEquals(0, ssh.waitFor());
  }

  @Test
  void connectsToAServerWithoutTheAgent() throws Exception {
    int local = ForwardingTest.freePort();
    try (ServerSocket server = server()) {
      Process ssh = rig.forwarding("-L", local + ":localhost:" + server.getLocalPort());
      Socket[] both = connection(local, server);

      try (Socket client = both[0];
          Socket accepted = both[1]) {
        Thread up = Thread.ofVirtual().start(() -> write(client, random));
        assertArrayEquals(random, accepted.getInputStream().readAllBytes());
        Thread down = Thread.ofVirtual().start(() -> write(accepted, random));
        assertArrayEquals(random, client.getInputStream().readAllBytes());
        up.join();
        down.join();
      }
      end(ssh);
    }
  }

  private static void write(Socket socket, byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
      socket.shutdownOutput();
    } catch (IOException gone) {
      throw new IllegalStateException(gone);
    }
  }

  @Test
  void aClosedPortIsReportedByTheAgent() throws Exception {
    int local = ForwardingTest.freePort();
    int closed = ForwardingTest.freePort();
    try (ServerSocket server = server()) {
      Process ssh =
          rig.forwarding(
              "-L",
              local + ":127.0.0.1:" + server.getLocalPort(),
              "-L",
              (local + 1) + ":127.0.0.1:" + closed);
      for (Socket socket : connection(local, server)) {
        socket.close();
      }

      try (Socket refused = to(local + 1)) {
        assertEquals(-1, refused.getInputStream().read());
      }
      end(ssh);
    }
  }

  @Test
  void whatAClientHasSentArrivesAfterItsDeath() throws Exception {
    int local = ForwardingTest.freePort();
    try (ServerSocket server = server()) {
      Process ssh = rig.forwarding("-L", local + ":127.0.0.1:" + server.getLocalPort());
      Socket[] both = connection(local, server);
      try (Socket client = both[0];
          Socket accepted = both[1]) {
        OutputStream out = client.getOutputStream();
        out.write(random, 0, 64 << 10);
        byte[] first = accepted.getInputStream().readNBytes(1);
        ssh.destroyForcibly().waitFor();

        byte[] rest = accepted.getInputStream().readAllBytes();
        assertEquals(random[0], first[0]);
        for (int i = 0; i < rest.length; i++) {
          assertEquals(random[i + 1], rest[i], "byte " + i);
        }
      }
    }
  }

  @Test
  void copiesFilesBothWays() throws Exception {
    Path here = Files.write(rig.folder().resolve("up"), random);
    Path back = rig.folder().resolve("down");
    String batch = "put '%s' f\nget f '%s'\nrm f\n".formatted(here, back);

    var result = rig.client("sftp", "-q", "-b", "-", "devbox").input(batch).run();

    assertEquals(0, result.status(), result.errors());
    assertArrayEquals(random, Files.readAllBytes(back));
    Files.delete(here);
    Files.delete(back);
  }

  @Test
  void outputInBulkIsWhole() throws Exception {
    Path file = Files.write(rig.folder().resolve("bytes"), random);

    var result = rig.ssh("devbox", "cat '" + file + "'; echo more >&2; exit 7").run();

    assertEquals(7, result.status(), result.errors());
    assertEquals("more\n", result.errors());
    assertArrayEquals(random, result.bytes());
    Files.delete(file);
  }

  @Test
  void inputInBulkIsWhole() throws Exception {
    var result = rig.ssh("devbox", "cat; echo end >&2").input(random).run();

    assertEquals(0, result.status(), result.errors());
    assertEquals("end\n", result.errors());
    assertArrayEquals(random, result.bytes());
  }

  @Test
  void bulkGoesOnWhileTheLinkIsCut() throws Exception {
    Process ssh =
        rig.ssh("devbox", "head -c 4000000 /dev/zero; read x; head -c 4000000 /dev/zero").start();
    try (var output = ssh.getInputStream()) {
      assertEquals(3_000_000, output.readNBytes(3_000_000).length);
      awaitThread("bulk-down");
      rig.node().cut();
      ssh.getOutputStream().write('\n');
      ssh.getOutputStream().flush();

      assertEquals(5_000_000, output.readAllBytes().length);
      assertEquals(0, ssh.waitFor());
    }
  }

  /** Of all threads only one that copies bulk has this name. */
  private static void awaitThread(String name) {
    while (Thread.getAllStackTraces().keySet().stream()
        .noneMatch(thread -> thread.getName().endsWith(name))) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  @Test
  void inputGoesToTheProgramWithoutTheAgent() throws Exception {
    Process ssh = rig.ssh("devbox", "wc -c").start();
    ssh.getOutputStream().write(random, 0, 4 << 20);
    ssh.getOutputStream().flush();
    awaitThread("bulk-up");
    ssh.getOutputStream().write(random, 0, 1000);
    ssh.getOutputStream().close();

    String count = new String(ssh.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(String.valueOf((4 << 20) + 1000), count.strip());
    assertEquals(0, ssh.waitFor());
  }

  @Test
  void aProgramInBulkEndsWithItsReader() throws Exception {
    Path file = rig.folder().resolve("pid");

    rig.ssh("devbox", "echo $$ >'" + file + "'; exec yes")
        .inShell("set -o pipefail; \"$@\" | head -c 9000000 >/dev/null")
        .run();

    Path process = Path.of("/proc", Files.readString(file).strip());
    while (Files.exists(process)) {
      LockSupport.parkNanos(1_000_000);
    }
    Files.delete(file);
  }

  @Test
  void aProgramThatReadsNoMoreEndsItsInput() throws Exception {
    var result = rig.ssh("devbox", "head -c 3000000 | wc -c").input(random).run();

    assertEquals(0, result.status(), result.errors());
    assertEquals("3000000", result.text().strip());
  }

  @Test
  void bulkOfWhatTheShellHasLeftBehindIsNotLost() throws Exception {
    var result =
        rig.ssh("devbox", "(head -c 5000000 /dev/zero; echo late) & head -c 3000000 /dev/zero")
            .run();

    assertEquals(0, result.status(), result.errors());
    assertEquals(8_000_005, result.bytes().length);
  }

  @Test
  void theAgentIsToldWhatPasses() throws Exception {
    rig.ssh("devbox", "head -c 4000000 /dev/zero").run();

    Json status = rig.node().control("status");
    assertTrue(status.write().contains("data of a command"), status.write());
  }
}
