package dev.gpush.control.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.control.place.Origin;
import dev.gpush.control.place.RunFolder;
import dev.gpush.control.wire.ControlFrame;
import dev.gpush.control.wire.ControlFrameReader;
import dev.gpush.control.wire.ControlFrameWriter;
import dev.gpush.control.wire.Greeting;
import dev.gpush.control.wire.Kind;
import dev.gpush.control.wire.Payload;
import dev.gpush.control.wire.Spawn;
import dev.gpush.core.task.Clock;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
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
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Gateways that end in the middle of something. */
class LostGatewayTest {
  private static final int ROUNDS = Integer.getInteger("gpush.rounds", 60);

  private static final String SILENT =
      """
      gpush: the gateway does not answer
        because its process hangs or is suspended (host=here pid=4711 home=/h)
        try: kill -CONT 4711; gpush ps    # or kill -9 4711: sessions and runs continue without it
      """;

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
        gpush: the gateway ended during the command
          because it ended without an answer
          try: gpush ps    # starts it again; sessions and runs on the nodes continue
        """,
        answer.err());
  }

  @Test
  void keepsItsOwnFailureApartFromTheRemoteStatus() {
    dieAfterRequest();

    assertEquals(255, client().capture(List.of("-s", "devbox", "run", "train.py")).status());
  }

  @Test
  void keepsItsOwnFailureApartFromTheStatusOfTheRunInLogs() {
    dieAfterRequest();

    assertEquals(255, client().capture(List.of("logs", "-f")).status());
  }

  @Test
  void aProgramThatOutlivesItsGatewaySaysHowItEnded() {
    ControlFrame spawn = new Spawn(List.of("python3", "copy.pyz"), Map.of()).frame();
    byte[] payload = spawn.payload();
    ByteBuffer bytes = ByteBuffer.allocate(5 + payload.length);
    bytes.putInt(payload.length).put((byte) spawn.kind().number()).put(payload);
    for (int status : new int[] {0, 7}) {
      CompletableFuture<Void> gone =
          answer(Greeting.of("b", home.toString(), 1).frame(), bytes.array());

      assertEquals(status, client().run(List.of("cp"), FakeConsole.empty().spawning(status)));
      gone.join();
    }
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
  void namesAGatewayThatIsStopped() throws IOException {
    Files.writeString(folder.lock(), "host=here pid=4711 home=/h\n");

    Captured answer = impatient().capture(List.of("ps"));

    assertEquals(3, answer.status());
    assertEquals(SILENT, answer.err());
    Files.delete(folder.lock());
  }

  /** Nobody accepts, so those who came before and went still stand in the queue. */
  @Test
  void namesAGatewayThatIsStoppedAlsoWhenItsQueueIsFull() throws IOException {
    Files.writeString(folder.lock(), "host=here pid=4711 home=/h\n");
    var queue = new ArrayList<SocketChannel>();
    for (boolean fits = true; fits; ) {
      SocketChannel next = SocketChannel.open(StandardProtocolFamily.UNIX);
      next.configureBlocking(false);
      queue.add(next);
      try {
        fits = next.connect(UnixDomainSocketAddress.of(folder.socket()));
      } catch (IOException full) {
        fits = false;
      }
    }

    Captured answer = impatient().capture(List.of("run", "train.py"));

    assertEquals(255, answer.status());
    assertEquals(SILENT, answer.err());
    for (SocketChannel each : queue) {
      each.close();
    }
    Files.delete(folder.lock());
  }

  /** Frames of a gateway with some of their bytes changed, after a good greeting. */
  @Test
  void takesNoNonsenseFromAGateway() throws IOException {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.err.println("LostGatewayTest seed " + seed + " (-Dgpush.seed)");
    var random = new Random(seed);
    for (int round = 0; round < ROUNDS; round++) {
      byte[] said = disturbed(random);
      var served = answer(Greeting.of("b", home.toString(), 1).frame(), said);

      Captured answer = client().capture(List.of("ps"));

      served.join();
      boolean isOwnFailure = answer.err().contains("gpush: the gateway ended during the command");
      assertEquals(
          isOwnFailure ? 3 : exit(said),
          answer.status(),
          () -> "seed " + seed + ": " + HexFormat.of().formatHex(said) + " gave " + answer);
    }
  }

  /** The status at the end of what was said; another number when that is none. */
  private static int exit(byte[] said) throws IOException {
    var reader = new ControlFrameReader(Channels.newChannel(new ByteArrayInputStream(said)));
    for (var next = reader.next(); next.isPresent(); next = reader.next()) {
      if (next.get().kind() == Kind.EXIT) {
        return next.get().fields().number();
      }
    }
    throw new AssertionError("it has no end, and the client took it");
  }

  private static byte[] disturbed(Random random) throws IOException {
    var bytes = new ByteArrayOutputStream();
    var writer = new ControlFrameWriter(Channels.newChannel(bytes));
    writer.write(new ControlFrame(Kind.OUTPUT, "out".getBytes(StandardCharsets.UTF_8)));
    writer.write(new Payload().number(1_000).frame(Kind.WANT));
    writer.write(new ControlFrame(Kind.ERROR, "what".getBytes(StandardCharsets.UTF_8)));
    writer.write(new Payload().text("sure?").flag(false).frame(Kind.ASK));
    writer.write(new Payload().flag(true).frame(Kind.RAW));
    writer.write(new Payload().number(7).frame(Kind.EXIT));
    byte[] said = bytes.toByteArray();
    for (int change = random.nextInt(3); change >= 0; change--) {
      said[random.nextInt(said.length)] = (byte) random.nextInt();
    }
    return random.nextInt(3) == 0 ? Arrays.copyOf(said, random.nextInt(said.length)) : said;
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
  void saysHowLongItHasWaitedForANewGateway() throws IOException {
    socket.close();
    var origin = new Origin(home, "b", home, Map.of(), 1, List.of("true"));
    var connector = new GatewayConnector(origin, GatewayConnector.GREETING_MILLIS, 1);

    ClientException failed =
        assertThrows(ClientException.class, () -> connector.enter(FakeConsole.empty()));

    assertEquals("the gateway did not start: it was not ready after 1 s", failed.getMessage());
  }

  @Test
  void leavesNoRuntimeFileWhenNoGatewayStarts() throws IOException {
    socket.close();

    client().capture(List.of("ps"));

    assertFalse(Files.exists(folder.path()));
  }

  private ControlClient impatient() {
    return new ControlClient(
        new Origin(home, "b", home, Map.of(), 1, List.of("/nonexistent/gateway")),
        300,
        Clock.system());
  }

  private ControlClient client() {
    return new ControlClient(
        new Origin(home, "b", home, Map.of(), 1, List.of("/nonexistent/gateway")));
  }

  private void dieAfterRequest() {
    answer(Greeting.of("b", home.toString(), 1).frame());
  }

  /** Says one frame, waits for the client's request, and goes. */
  private void answer(ControlFrame frame) {
    answer(frame, new byte[0]);
  }

  /** As well, but says these bytes before it goes. */
  private CompletableFuture<Void> answer(ControlFrame frame, byte[] then) {
    return CompletableFuture.runAsync(
        () -> {
          try (SocketChannel client = socket.accept()) {
            new ControlFrameWriter(client).write(frame);
            var reader = new ControlFrameReader(client);
            while (reader.next().filter(next -> next.kind() != Kind.REQUEST).isPresent()) {
              // The greeting.
            }
            client.write(ByteBuffer.wrap(then));
          } catch (IOException failed) {
            throw new IllegalStateException(failed);
          }
        });
  }
}
