package dev.gpush.link;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Task;
import dev.gpush.testkit.fake.Interpreters;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.DigestInputStream;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The Java side against the real agent, over real processes. */
@Execution(ExecutionMode.CONCURRENT)
class AgentProcessTest {
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

  private BlockingStream exec(Object... more) {
    return link.open(request(more));
  }

  private static Json.Obj request(Object... more) {
    var request = Json.object("type", "exec", "stdin", true);
    for (int i = 0; i < more.length; i += 2) {
      request = request.with((String) more[i], more[i + 1]);
    }
    return request;
  }

  private static String text(InputStream input) throws IOException {
    return new String(input.readAllBytes(), StandardCharsets.UTF_8);
  }

  @Test
  void carriesOutputErrorsAndExitStatus() throws Exception {
    var stream = exec("command", "echo out; echo err >&2; exit 7");

    assertTrue(stream.awaitOpened().number("pid").orElseThrow() > 1);
    assertEquals("out\n", text(stream.output(0)));
    assertEquals("err\n", text(stream.output(1)));
    assertEquals(Json.object("exit", 7), stream.awaitClose());
  }

  @Test
  void tellsTheSignalThatEndedAProcess() throws Exception {
    var stream = exec("command", "kill -TERM $$");

    Json.Obj end = stream.awaitClose();

    assertEquals("TERM", end.text("signal").orElse(""));
  }

  @Test
  void sendsSignals() throws Exception {
    var stream =
        exec("command", "trap 'echo got; exit 3' USR1; echo ready; while :; do sleep 0.01; done");
    var output = stream.output(0);
    assertEquals("ready\n", new String(output.readNBytes(6), StandardCharsets.UTF_8));

    stream.stream().message(Json.object("signal", "USR1"));

    assertEquals("got\n", text(output));
    assertEquals(Json.object("exit", 3), stream.awaitClose());
  }

  @Test
  void refusesAProgramThatIsNotThere() throws Exception {
    var stream = exec("argv", List.of("/no/such/program"));

    var refused = assertThrows(GpushException.class, stream::awaitOpened);

    var failure = assertInstanceOf(AgentFailure.Refused.class, refused.failure());
    assertEquals("not-found", failure.code());
  }

  @Test
  void returnsTwentyMegabytesAsTheyWere() throws Exception {
    var stream = exec("command", "cat");

    Task<byte[], Exception> sent = feed(stream.input(), 20 << 20);

    assertArrayEquals(sha(stream.output(0)), sent.get());
    assertEquals(Json.object("exit", 0), stream.awaitClose());
  }

  @Test
  void losesNothingWhenTheRelayIsDestroyed() throws Exception {
    int cuts = 5;
    var stream = exec("command", "cat");
    var received = node.tasks().fork("receive", () -> sha(stream.output(0)));
    Task<byte[], Exception> sent = feed(stream.input(), 40 << 20);

    for (int cut = 1; cut <= cuts; cut++) {
      node.pipes().await(cut, pipe -> true).getLast().close();
      node.states().await(cut, state -> state instanceof LinkState.Up(_, var resumed) && resumed);
    }

    assertArrayEquals(received.get(), sent.get());
    assertEquals(Json.object("exit", 0), stream.awaitClose());
  }

  @Test
  void resizesATerminal() throws Exception {
    var stream =
        exec(
            "command",
            "stty size; read line; stty size",
            "pty",
            Json.object("term", "xterm", "columns", 80, "rows", 24, "modes", Json.object()));
    var output = stream.output(0);
    assertEquals("24 80\r\n", new String(output.readNBytes(7), StandardCharsets.UTF_8));

    stream.stream().message(Json.object("resize", List.of(132, 50)));
    stream.input().write('\n');

    assertTrue(text(output).endsWith("50 132\r\n"));
    assertEquals(Json.object("exit", 0), stream.awaitClose());
  }

  @Test
  void dialsTcp() throws Exception {
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var stream =
          link.open(Json.object("type", "tcp", "host", "127.0.0.1", "port", server.getLocalPort()));

      try (Socket accepted = server.accept()) {
        stream.input().write("ping".getBytes(StandardCharsets.UTF_8));
        stream.input().close();
        assertEquals("ping", text(accepted.getInputStream()));
        accepted.getOutputStream().write("pong".getBytes(StandardCharsets.UTF_8));
      }
      assertEquals("pong", text(stream.output(0)));
    }
  }

  @Test
  void acceptsConnectionsOnTheNode() throws Exception {
    var accepted = new Recorder<BlockingStream>();
    var opened = new Recorder<Json.Obj>();
    link.open(
        Json.object("type", "listen-tcp", "host", "127.0.0.1", "port", 0),
        stream -> new FakeListener(opened, accepted));
    int port = opened.await(_ -> true).number("port").orElseThrow().intValue();

    try (var client = new Socket(InetAddress.getLoopbackAddress(), port)) {
      BlockingStream stream = accepted.await(_ -> true);
      client.getOutputStream().write("hello".getBytes(StandardCharsets.UTF_8));
      client.shutdownOutput();
      assertEquals("hello", text(stream.output(0)));
      stream.input().write("bye".getBytes(StandardCharsets.UTF_8));
      stream.input().close();
      assertEquals("bye", text(client.getInputStream()));
    }
  }

  @Test
  void answersCallsAndRefusesUnknownOnes() throws Exception {
    Json ports = link.call("ports", Json.object("count", 2));

    assertEquals(2, ports.items("ports").size());
    var refused =
        assertThrows(GpushException.class, () -> link.call("no-such-method", Json.object()));
    assertInstanceOf(AgentFailure.Refused.class, refused.failure());
  }

  @Test
  void endsWithTheReleaseOfTheAgent() throws Exception {
    var stream = exec("command", "cat");
    stream.awaitOpened();

    assertTrue(node.control(Json.object("do", "release")).flag("ok"));

    assertEquals(new LinkState.Over("released"), node.states().await(LinkState::isFinal));
    stream.awaitClose();
    link.close();
    node.delete();
    node = new AgentNode();
    link = node.connected();
  }

  @Test
  void isRefusedWhenAnotherHolderTakesTheGang() throws Exception {
    try (var taker = node.link("f".repeat(32), 2)) {
      taker.connect();

      var state =
          assertInstanceOf(LinkState.Refused.class, node.states().await(LinkState::isFinal));
      assertEquals(new AgentFailure.Superseded("me@here", 2), state.failure());
    }
  }

  @Test
  void saysThatThereIsNoAgent() throws Exception {
    var other = new AgentNode();
    try (var pipe = other.spawn()) {
      var failed =
          assertThrows(
              GpushException.class, () -> other.image().begin(pipe, other.header().mode("attach")));

      assertInstanceOf(AgentFailure.NotThere.class, failed.failure());
    }
    var none = assertThrows(GpushException.class, other::close);
    assertInstanceOf(AgentFailure.NotThere.class, none.failure());
  }

  @Test
  void saysThatThereIsNoPython() throws Exception {
    try (var pipe = node.spawn(List.of("no-such-python"))) {
      var failed =
          assertThrows(
              GpushException.class, () -> node.image().begin(pipe, node.header().mode("start")));

      assertEquals(new AgentFailure.NoPython(Interpreters.one()), failed.failure());
    }
  }

  private Task<byte[], Exception> feed(OutputStream target, int size) {
    return node.tasks()
        .fork(
            "feed",
            () -> {
              var random = new Random(7);
              var digest = MessageDigest.getInstance("SHA-256");
              var piece = new byte[100_000];
              try (var output = new DigestOutputStream(target, digest)) {
                for (int left = size; left > 0; left -= piece.length) {
                  random.nextBytes(piece);
                  output.write(piece, 0, Math.min(left, piece.length));
                }
              }
              return digest.digest();
            });
  }

  private static byte[] sha(InputStream source) throws Exception {
    var digest = MessageDigest.getInstance("SHA-256");
    try (var input = new DigestInputStream(source, digest)) {
      input.transferTo(OutputStream.nullOutputStream());
    }
    return digest.digest();
  }
}
