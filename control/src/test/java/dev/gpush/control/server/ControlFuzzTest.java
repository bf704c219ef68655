package dev.gpush.control.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.control.client.Captured;
import dev.gpush.control.wire.ControlFrame;
import dev.gpush.control.wire.ControlFrameWriter;
import dev.gpush.control.wire.Facts;
import dev.gpush.control.wire.Greeting;
import dev.gpush.control.wire.Kind;
import dev.gpush.control.wire.Payload;
import dev.gpush.control.wire.Request;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * What no client says, said to the gateway: it ends that connection, says why in one line, keeps
 * little of it in memory, and goes on with the others. {@code -Dgpush.seed} repeats a run, {@code
 * -Dgpush.rounds} makes it longer.
 */
@Isolated("it measures memory")
final class ControlFuzzTest {
  private static final boolean LONG = Boolean.getBoolean("gpush.long");
  private static final long SEED = Long.getLong("gpush.seed", new Random().nextLong());
  private static final int ROUNDS = Integer.getInteger("gpush.rounds", LONG ? 100_000 : 3_000);

  /** Frames of one kind without an end: more than any buffer holds. */
  private static final int FLOOD = LONG ? 2_000_000 : 100_000;

  private static final long SLACK = 48L << 20;

  @TempDir private Path home;

  private final Random random = new Random(SEED);

  static {
    System.out.println("seed of the control fuzz: -Dgpush.seed=" + SEED);
  }

  /** Reads its input, if it is told to, and answers; asks a question, if it is told to. */
  private static int handle(Invocation call) throws InterruptedException {
    try {
      switch (call.arguments().isEmpty() ? "" : call.arguments().getFirst()) {
        case "cat" -> call.in().transferTo(call.out());
        case "ask" -> call.ask("sure?", false);
        case "spawn" -> call.spawn(List.of("ssh"), Map.of());
        case "wait" -> {
          call.onSignal(_ -> {});
          new CountDownLatch(1).await();
        }
        default -> call.out().write("fine".getBytes(java.nio.charset.StandardCharsets.UTF_8));
      }
      return 0;
    } catch (IOException gone) {
      throw new UncheckedIOException(gone);
    }
  }

  private static Request request(String... words) {
    var terminal = new Facts(Facts.Terminals.all(), 80, 24, "xterm", 8);
    return new Request(List.of(words), "/", Map.of("A", "b"), terminal, 1);
  }

  private SocketChannel connect(TestGateway gateway) throws IOException {
    var channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    channel.connect(UnixDomainSocketAddress.of(gateway.socket()));
    return channel;
  }

  private static byte[] written(List<ControlFrame> frames) throws IOException {
    var bytes = new ByteArrayOutputStream();
    var writer = new ControlFrameWriter(Channels.newChannel(bytes));
    for (ControlFrame frame : frames) {
      writer.write(frame);
    }
    return bytes.toByteArray();
  }

  private static ControlFrame signal(String name) {
    return new Payload().text(name).frame(Kind.SIGNAL);
  }

  /** All that a client may say, in an order that it may. */
  private List<ControlFrame> conversation() {
    String word = List.of("cat", "ask", "spawn", "wait", "ps").get(random.nextInt(5));
    var said = new ArrayList<ControlFrame>();
    said.add(Greeting.of(TestGateway.BUILD, home.toString(), 1).frame());
    said.add(request(word, "x").frame());
    said.add(new ControlFrame(Kind.INPUT, new byte[random.nextInt(300)]));
    said.add(new Payload().number(80).number(24).frame(Kind.SIZE));
    said.add(new Payload().flag(true).text("yes").frame(Kind.ANSWER));
    said.add(new Payload().number(0).frame(Kind.SPAWNED));
    said.add(new ControlFrame(Kind.INPUT_END, new byte[0]));
    said.add(new Payload().number(2).frame(Kind.BROKEN));
    said.add(signal("INT"));
    return said;
  }

  /** Frames left out, doubled, moved, of other kinds; then bytes changed, lost, or cut off. */
  private byte[] wrong() throws IOException {
    List<ControlFrame> said = conversation();
    for (int change = random.nextInt(4); change > 0; change--) {
      int at = random.nextInt(said.size());
      switch (random.nextInt(4)) {
        case 0 -> said.remove(at);
        case 1 -> said.add(random.nextInt(said.size()), said.get(at));
        case 2 -> said.add(said.remove(at));
        default -> said.set(at, another(said.get(at)));
      }
    }
    byte[] bytes = written(said);
    for (int change = random.nextInt(3); change > 0 && bytes.length > 0; change--) {
      int at = random.nextInt(bytes.length);
      if (random.nextBoolean()) {
        bytes[at] ^= (byte) (1 << random.nextInt(8));
      } else {
        bytes[at] = (byte) random.nextInt();
      }
    }
    return random.nextInt(3) == 0 ? Arrays.copyOf(bytes, random.nextInt(bytes.length + 1)) : bytes;
  }

  private ControlFrame another(ControlFrame frame) {
    Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
    byte[] payload = frame.payload();
    int length = Math.min(kind.limit(), random.nextInt(payload.length + 20));
    return new ControlFrame(kind, Arrays.copyOf(payload, length));
  }

  /** Says it, and hears what comes until the gateway has ended it. */
  private void say(TestGateway gateway, byte[] bytes) throws IOException {
    try (SocketChannel channel = connect(gateway)) {
      var rest = ByteBuffer.wrap(bytes);
      while (rest.hasRemaining()) {
        // In pieces, as it comes when somebody is slow.
        rest.limit(Math.min(rest.capacity(), rest.position() + 1 + random.nextInt(200)));
        channel.write(rest);
        rest.limit(rest.capacity());
      }
      channel.shutdownOutput();
      var heard = ByteBuffer.allocate(1 << 10);
      while (channel.read(heard) >= 0) {
        heard.clear();
      }
    } catch (IOException ended) {
      // It has had enough of us.
    }
  }

  private void serves(TestGateway gateway) {
    Captured answer = gateway.capture("ps");
    assertEquals("fine", answer.out(), () -> answer.err() + " seed " + SEED);
    assertEquals(0, answer.status(), answer::err);
  }

  @Test
  void anyBytesEndInARefusalAndHarmNobody() throws IOException {
    try (var gateway = TestGateway.with(home, ControlFuzzTest::handle)) {
      for (int round = 0; round < ROUNDS; round++) {
        say(gateway, wrong());
      }

      serves(gateway);
      List<String> bugs =
          gateway.incidents.stream().filter(said -> !said.startsWith("refused: ")).toList();
      assertEquals(List.of(), bugs, "seed " + SEED);
      assertTrue(gateway.incidents.stream().allMatch(said -> said.length() < 500));
    }
  }

  /** Each alone is a reason to end the connection; the handler's wait ends with it. */
  @Test
  void framesThatSayNothingEndTheirConnection() throws IOException {
    List<ControlFrame> wrong =
        List.of(
            signal("KILL"),
            signal(""),
            new Payload().text("INT").number(1).frame(Kind.SIGNAL),
            new Payload().number(-1).number(24).frame(Kind.SIZE),
            new Payload().number(80).frame(Kind.SIZE),
            new Payload().number(1 << 20).number(24).frame(Kind.SIZE),
            new ControlFrame(Kind.SPAWNED, new byte[0]),
            new ControlFrame(Kind.ANSWER, new byte[] {1}),
            new Payload().flag(true).text("yes").number(1).frame(Kind.ANSWER),
            new Payload().number(3).frame(Kind.BROKEN),
            new Payload().number(0).frame(Kind.BROKEN),
            request("ps").frame());
    try (var gateway = TestGateway.with(home, ControlFuzzTest::handle)) {
      for (ControlFrame frame : wrong) {
        for (String word : List.of("ask", "spawn", "wait")) {
          try (var client = gateway.raw()) {
            client.writer().write(request(word).frame());
            client.writer().write(frame);
            while (client.reader().next().filter(next -> next.kind() != Kind.EXIT).isPresent()) {
              // The question.
            }
            assertTrue(client.reader().next().isEmpty());
          }
        }
      }

      assertEquals(3 * wrong.size(), gateway.incidents.size(), gateway.incidents::toString);
      assertTrue(gateway.incidents.stream().allMatch(said -> said.startsWith("refused: ")));
      serves(gateway);
    }
  }

  /** Frames that are good alone and are never wanted so often. */
  @Test
  void floodsStayWithinTheirBounds() throws Exception {
    List<ControlFrame> floods =
        List.of(
            signal("INT"),
            new Payload().number(80).number(24).frame(Kind.SIZE),
            new Payload().flag(true).text("yes").frame(Kind.ANSWER),
            new Payload().number(0).frame(Kind.SPAWNED),
            new Payload().number(1).frame(Kind.BROKEN),
            new ControlFrame(Kind.INPUT, new byte[0]),
            new ControlFrame(Kind.INPUT_END, new byte[0]));
    try (var gateway = TestGateway.with(home, ControlFuzzTest::handle)) {
      for (ControlFrame frame : floods) {
        long before = heap();
        try (var client = gateway.raw()) {
          client.writer().write(request("wait").frame());
          byte[] many = written(java.util.Collections.nCopies(1_000, frame));
          for (int sent = 0; sent < FLOOD; sent += 1_000) {
            var rest = ByteBuffer.wrap(many);
            while (rest.hasRemaining()) {
              client.channel().write(rest);
            }
          }
          serves(gateway);
          long more = heap() - before;
          assertTrue(more < SLACK, frame + ": heap grew by " + more);
        } catch (IOException ended) {
          serves(gateway); // More of it than it can mean is a reason to end.
        }
      }
      assertTrue(
          gateway.incidents.stream().allMatch(said -> said.startsWith("refused: ")),
          gateway.incidents::toString);
    }
  }

  /** A length is a promise: memory is given for what came, not for what was announced. */
  @Test
  void announcedAndNeverSentCostsNothing() throws Exception {
    byte[] greeting = written(List.of(Greeting.of(TestGateway.BUILD, "/h", 1).frame()));
    byte[] header =
        ByteBuffer.allocate(5)
            .putInt(Kind.REQUEST.limit())
            .put((byte) Kind.REQUEST.number())
            .array();
    var silent = new ArrayList<SocketChannel>();
    try (var gateway = TestGateway.with(home, ControlFuzzTest::handle)) {
      long before = heap();
      for (int i = 0; i < Limits.STANDARD.connections() - 8; i++) {
        SocketChannel channel = connect(gateway);
        channel.write(ByteBuffer.wrap(greeting));
        channel.write(ByteBuffer.wrap(header));
        silent.add(channel);
      }
      serves(gateway);
      long more = heap() - before;
      assertTrue(more < SLACK, silent.size() + " half requests cost " + more);
    } finally {
      for (SocketChannel channel : silent) {
        channel.close();
      }
    }
  }

  private static long heap() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }
}
