package dev.gpush.control.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.control.place.RunFolder;
import dev.gpush.control.wire.Frame;
import dev.gpush.control.wire.FrameReader;
import dev.gpush.control.wire.FrameWriter;
import dev.gpush.control.wire.Greeting;
import dev.gpush.control.wire.Kind;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Gateways that end in the middle of something. */
@Timeout(60)
class LostGatewayTest {
  @TempDir private Path temporary;

  private Path home;
  private RunFolder folder;
  private ServerSocketChannel socket;

  @BeforeEach
  void listen() throws IOException {
    home = temporary.toRealPath();
    folder = RunFolder.of(home).make();
    socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    socket.bind(UnixDomainSocketAddress.of(folder.socket()));
  }

  @AfterEach
  void clean() throws IOException {
    socket.close();
    Files.deleteIfExists(folder.socket());
    Files.deleteIfExists(folder.startLock());
    Files.deleteIfExists(folder.path());
  }

  @Test
  void tellsWhatItMeansForACommand() {
    dieAfterRequest();

    Captured answer = client().capture(List.of("ps", "run"));

    assertEquals(3, answer.status());
    assertEquals(
        """
        gpush: the gateway was lost while the command was under way
          because it ended without a word
          try: gpush ps    # starts it again; sessions and runs on the nodes go on without it
        """,
        answer.err());
  }

  @Test
  void keepsItsOwnFailureApartFromTheRemoteStatus() {
    dieAfterRequest();

    assertEquals(255, client().capture(List.of("-s", "devbox", "run", "train.py")).status());
  }

  @Test
  void keepsItsOwnFailureApartWhenNoGatewayStarts() throws IOException {
    socket.close();

    for (String verb : List.of("run", "exec", "ssh")) {
      assertEquals(255, client().capture(List.of("--session", "devbox", verb, "ps")).status());
      assertEquals(3, client().capture(List.of("ps", verb)).status());
    }
  }

  @Test
  void startsAnotherWhenItEndedBeforeItsGreeting() {
    CompletableFuture.runAsync(
        () -> {
          try {
            SocketChannel client = socket.accept();
            socket.close();
            Files.delete(folder.socket());
            client.close();
          } catch (IOException failed) {
            throw new IllegalStateException(failed);
          }
        });

    Captured answer = client().capture(List.of("ps"));

    assertEquals(3, answer.status());
    assertTrue(answer.err().startsWith("gpush: cannot start the gateway\n"), answer::err);
  }

  @Test
  void replacesADeadSocket() throws IOException {
    socket.close(); // Its file stays, as after kill -9.

    Captured answer = client().capture(List.of("ps"));

    assertTrue(answer.err().startsWith("gpush: cannot start the gateway\n"), answer::err);
  }

  @Test
  void refusesTheGatewayOfAnotherHome() {
    answer(Greeting.of("b", "/another/home", 1).frame());

    Captured answer = client().capture(List.of("ps"));

    assertEquals(3, answer.status());
    assertTrue(answer.err().contains("it serves /another/home"), answer::err);
  }

  @Test
  void reportsANewGatewaysLastWords() throws IOException {
    socket.close();
    var client =
        new ControlClient(
            new Origin(
                home,
                "b",
                home,
                Map.of(),
                1,
                List.of("/bin/sh", "-c", "echo the disk is full; exit 3")));

    Captured answer = client.capture(List.of("ps"));

    assertEquals(3, answer.status());
    assertEquals(
        """
        gpush: cannot start the gateway
          because its process ended with status 3:
            the disk is full
          try: less %s
        """
            .formatted(home.resolve("logs/gateway.log")),
        answer.err());
  }

  @Test
  void passesANewGatewaysOwnFailureOn() throws IOException {
    socket.close();
    String words = "gpush: cannot keep anything here\n  because it is full\n  try: df -h\n";
    var client =
        new ControlClient(
            new Origin(
                home,
                "b",
                home,
                Map.of(),
                1,
                List.of("/bin/sh", "-c", "echo noise; printf %s \"$0\"; exit 3", words)));

    assertEquals(new Captured(3, "", words), client.capture(List.of("ps")));
  }

  @Test
  void leavesNoRuntimeFileWhenNoGatewayStarts() throws IOException {
    socket.close();

    client().capture(List.of("ps"));

    assertFalse(Files.exists(folder.path()));
  }

  private ControlClient client() {
    return new ControlClient(
        new Origin(home, "b", home, Map.of(), 1, List.of("/nonexistent/gateway")));
  }

  private void dieAfterRequest() {
    answer(Greeting.of("b", home.toString(), 1).frame());
  }

  /** Says one frame, waits for the client's request, and goes. */
  private void answer(Frame frame) {
    CompletableFuture.runAsync(
        () -> {
          try (SocketChannel client = socket.accept()) {
            new FrameWriter(client).write(frame);
            var reader = new FrameReader(client);
            while (reader.next().filter(next -> next.kind() != Kind.REQUEST).isPresent()) {
              // The greeting.
            }
          } catch (IOException failed) {
            throw new IllegalStateException(failed);
          }
        });
  }
}
