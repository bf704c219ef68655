package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.agent.AgentImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * OpenSSH connected as an editor is: a command that waits and a forwarded connection. The agent's
 * clock is the test's.
 */
@Tag("local")
class IdleTimeTest {
  private static final Duration IDLE = Duration.ofHours(1);

  /** VS Code's protocol: thirteen bytes in a frame of a websocket, every five seconds. */
  private static final byte[] KEEPALIVE = {(byte) 0x82, 13, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

  private Path jump;
  private SshGatewayFixture rig;
  private ServerSocket server;
  private Process editor;
  private Socket toServer;
  private Socket onNode;

  @BeforeEach
  void starts() throws Exception {
    rig = new SshGatewayFixture(this::node);
    server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    int local;
    try (var free = new ServerSocket(0)) {
      local = free.getLocalPort();
    }
    editor = rig.forwarding("-L", local + ":127.0.0.1:" + server.getLocalPort());
    toServer = new Socket(InetAddress.getLoopbackAddress(), local);
    onNode = server.accept();
    // The agent may still be dialling, with a time limit that a jump of its clock would end.
    exchange(KEEPALIVE);
  }

  @AfterEach
  void ends() throws Exception {
    try (var _ = rig;
        var _ = server;
        var _ = toServer;
        var _ = onNode) {
      editor.destroy();
      editor.waitFor();
    }
  }

  /** An agent whose time goes on, and jumps by what is in a file. */
  private AgentNode node(Path folder, Tasks tasks) throws IOException, InterruptedException {
    jump = Files.createDirectories(folder).resolve("jump");
    advance(Duration.ZERO);
    String clock =
        """
        import time

        def now():
            with open(%s) as file:
                return time.monotonic() + float(file.read())
        """
            .formatted(Json.of(jump.toString()).write());
    var image = new AgentImage(tasks, new SecureRandom(), Map.of("core/clock", clock));
    var lease = Json.object("idle_s", IDLE.toSeconds(), "unclaimed_s", 120);
    return new AgentNode(folder, tasks, image, lease);
  }

  private void advance(Duration by) throws IOException {
    Path next = jump.resolveSibling("jump.new");
    Files.writeString(next, Long.toString(by.toSeconds()));
    Files.move(next, jump, StandardCopyOption.ATOMIC_MOVE);
  }

  /** Also wakes the agent, which waits by the system's time. */
  private Json at(Duration by) throws IOException {
    advance(by);
    return rig.node().control("status");
  }

  private static byte[] minuteOfKeepalives() {
    var bytes = new ByteArrayOutputStream();
    for (int seconds = 0; seconds < 60; seconds += 5) {
      bytes.writeBytes(KEEPALIVE);
    }
    return bytes.toByteArray();
  }

  /** To the server on the node and back. */
  private void exchange(byte[] bytes) throws IOException {
    toServer.getOutputStream().write(bytes);
    toServer.getOutputStream().flush();
    assertEquals(bytes.length, onNode.getInputStream().readNBytes(bytes.length).length);
    onNode.getOutputStream().write(bytes);
    onNode.getOutputStream().flush();
    assertEquals(bytes.length, toServer.getInputStream().readNBytes(bytes.length).length);
  }

  @Test
  void anEditorThatIsOpenAndSilentLetsGo() throws Exception {
    for (int minutes = 1; minutes <= 50; minutes++) {
      advance(Duration.ofMinutes(minutes));
      exchange(minuteOfKeepalives());
    }

    Json status = at(Duration.ofMinutes(50));
    assertTrue(status.number("idle_for_s").orElseThrow() >= 3000, status::write);
    assertFalse(status.flag("busy"), status::write);
    assertEquals(List.of("ssh"), status.texts("clients"));
    try {
      at(IDLE.plusMinutes(1));
    } catch (GpushException noAgent) {
      // It woke by itself, before it was asked.
      assertInstanceOf(AgentFailure.NotThere.class, noAgent.failure());
    }
    // The end of the agent ends the command.
    editor.waitFor();
  }

  @Test
  void anEditorInWhichSomeoneTypesDoesNot() throws Exception {
    advance(IDLE.minusMinutes(10));
    for (int key = 0; key < 20; key++) {
      exchange(new byte[300]);
    }

    Json status = at(IDLE.plusMinutes(10));
    assertTrue(editor.isAlive());
    assertEquals("data through a forward", status.text("idle_because").orElse(""));
    assertTrue(status.number("idle_left_s").orElseThrow() > 2000, status::write);
  }
}
