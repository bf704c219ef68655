package dev.gpush.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What no agent says, said to the gateway's side: a clear end, bounded memory, and nothing else
 * harmed. {@code -Dgpush.seed} repeats a run, {@code -Dgpush.rounds} makes it longer.
 */
class LinkFuzzTest {
  private static final long SEED = Long.getLong("gpush.seed", new Random().nextLong());
  private static final int ROUNDS = Integer.getInteger("gpush.rounds", 1);
  private static final Set<String> RULES =
      Set.of(
          "length",
          "reserved",
          "kind",
          "sequence",
          "flags",
          "stream",
          "json",
          "depth",
          "gap",
          "never-opened",
          "after-close",
          "after-end",
          "credit",
          "unexpected",
          "unacknowledged");

  private final Random random = new Random(SEED);
  private final Tasks tasks = Tasks.named("fuzz", (thread, failure) -> failure.printStackTrace());
  private final List<Link> links = new ArrayList<>();

  static {
    System.out.println("seed of the link fuzz: -Dgpush.seed=" + SEED);
  }

  @AfterEach
  void closes() {
    links.forEach(Link::close);
    tasks.close();
  }

  private Link link(PipeSource pipes, LinkListener listener) {
    var identity = new LinkIdentity(0, "me", "0".repeat(32), 1, List.of());
    var link = new Link(identity, pipes, tasks, Clock.system(), new Random(1), listener);
    links.add(link);
    return link;
  }

  /** The gateway's side without pipes and threads: frames go straight to an inbox. */
  private final class Gateway {
    private final Link link =
        link(
            _ -> {
              throw new AssertionError("no pipe is wanted");
            },
            _ -> {});
    private final Inbox inbox = new Inbox(link, new Contact(LinkTiming.usual(), 0), 0);
    private final List<BlockingStream> streams = new ArrayList<>();
    private long sequence;

    Gateway(int streams) {
      for (int i = 0; i < streams; i++) {
        this.streams.add(link.open(Json.object("type", "exec")));
      }
      link.open(Json.object("type", "listen-tcp"), Listening::new);
      take();
    }

    void take() {
      link.lock();
      try {
        link.outbox().take(new ArrayList<>());
      } finally {
        link.unlock();
      }
    }

    void accept(Frame frame) throws ProtocolException {
      if (!frame.kind().isSequenced() && frame.kind().shape() == FrameKind.Shape.JSON) {
        frame.json();
        return;
      }
      Json.Obj json = frame.kind().shape() == FrameKind.Shape.JSON ? frame.json() : Json.object();
      Runnable call;
      link.lock();
      try {
        call = frame.kind() == FrameKind.PING ? () -> {} : inbox.accept(frame, json, 0);
      } finally {
        link.unlock();
      }
      call.run();
    }

    void put(FrameKind kind, int stream, int flags, byte[] payload) throws ProtocolException {
      accept(new Frame(kind, flags, stream, ++sequence, ByteBuffer.wrap(payload)));
    }

    int kept() {
      link.lock();
      try {
        assertTrue(link.streams().size() <= Limits.MAX_STREAMS);
        return link.outbox().keptFrames();
      } finally {
        link.unlock();
      }
    }
  }

  /** Takes connections and, as all of ours do, lets go of bytes that no listener is owed. */
  private record Listening(LinkStream stream) implements StreamReceiver {
    @Override
    public void data(int channel, ByteBuffer bytes) {
      stream.consumed(bytes.remaining());
    }

    @Override
    public Optional<StreamReceiver> accepted(LinkStream connection, Json.Obj request) {
      return Optional.of(BlockingStream.over(connection).receiver());
    }

    @Override
    public void closed(Json.Obj reason) {}
  }

  private static byte[] text(String json) {
    return json.getBytes(StandardCharsets.UTF_8);
  }

  /** What an agent says to a gateway with four streams and a listener, all kinds in it. */
  private static List<Frame> conversation() {
    var said = new ArrayList<Frame>();
    for (int number = 1; number <= 9; number += 2) {
      said.add(json(FrameKind.OPENED, number, "{\"credit\":65536,\"pid\":" + number + "}"));
    }
    for (int number = 1; number <= 5; number += 2) {
      said.add(Frame.ofNumber(FrameKind.CREDIT, number, 100_000));
      said.add(data(number, 0, 3_000));
      said.add(data(number, 1, 5));
      said.add(json(FrameKind.MESSAGE, number, "{\"result\":{\"a\":[1,2,{}],\"ä\":\"\\u00e4\"}}"));
      said.add(new Frame(FrameKind.END, 0, number, 0, ByteBuffer.allocate(0)));
      said.add(new Frame(FrameKind.END, 1, number, 0, ByteBuffer.allocate(0)));
      said.add(json(FrameKind.CLOSE, number, "{\"exit\":0}"));
    }
    for (int number = 2; number <= 8; number += 2) {
      said.add(
          json(
              FrameKind.OPEN,
              number,
              "{\"type\":\"accepted\",\"listener\":"
                  + (number == 8 ? 77 : 9)
                  + ",\"credit\":65536}"));
      said.add(data(number, 0, 700));
    }
    said.removeLast();
    said.add(Frame.ofNumber(FrameKind.ACK, 0, 5));
    said.add(Frame.ofNumber(FrameKind.PING, 0, 5));
    long sequence = 0;
    for (int i = 0; i < said.size(); i++) {
      if (said.get(i).kind().isSequenced()) {
        said.set(i, said.get(i).numbered(++sequence));
      }
    }
    return said;
  }

  private static Frame json(FrameKind kind, int stream, String json) {
    return new Frame(kind, 0, stream, 0, ByteBuffer.wrap(text(json)));
  }

  private static Frame data(int stream, int channel, int size) {
    return new Frame(FrameKind.DATA, channel, stream, 0, ByteBuffer.wrap(new byte[size]));
  }

  private static byte[] written(List<Frame> frames) throws IOException {
    var bytes = new ByteArrayOutputStream();
    var writer = new FrameWriter(bytes);
    for (Frame frame : frames) {
      writer.write(frame);
    }
    writer.flush();
    return bytes.toByteArray();
  }

  /** How a gateway takes these bytes: the rule that they break, or that they end. */
  private String taken(byte[] bytes) throws IOException {
    var gateway = new Gateway(4);
    var reader = new FrameReader(new ByteArrayInputStream(bytes));
    try {
      for (var next = reader.next(); next.isPresent(); next = reader.next()) {
        gateway.accept(next.orElseThrow());
        if (random.nextInt(4) == 0) {
          gateway.take();
        }
      }
      return "end";
    } catch (ProtocolException broken) {
      assertTrue(RULES.contains(broken.rule()), broken.rule());
      assertTrue(String.valueOf(broken.getMessage()).length() < 300, broken.getMessage());
      return broken.rule();
    } catch (EOFException cut) {
      return "cut";
    } finally {
      gateway.kept();
    }
  }

  private byte[] mutated(byte[] bytes) {
    byte[] changed = bytes.clone();
    for (int change = random.nextInt(3); change >= 0; change--) {
      int at = random.nextInt(changed.length);
      switch (random.nextInt(4)) {
        case 0 -> changed[at] = (byte) random.nextInt();
        case 1 -> changed[at] ^= (byte) (1 << random.nextInt(8));
        case 2 ->
            changed =
                spliced(changed, at, Math.min(changed.length, at + 1 + random.nextInt(60)), at);
        default -> changed = spliced(changed, at, at, Math.max(0, at - random.nextInt(60)));
      }
    }
    return changed;
  }

  /** Up to one place, then from another: bytes are lost or come twice. */
  private static byte[] spliced(byte[] bytes, int end, int lost, int again) {
    int from = lost > end ? lost : again;
    byte[] spliced = Arrays.copyOf(bytes, end + Math.max(1, bytes.length - from));
    System.arraycopy(bytes, from, spliced, end, bytes.length - from);
    return spliced;
  }

  @Test
  void theConversationItselfIsGood() throws IOException {
    assertEquals("end", taken(written(conversation())));
  }

  @Test
  void anyChangeEndsClearly() throws IOException {
    byte[] good = written(conversation());
    Map<String, Integer> ends = new TreeMap<>();
    for (int round = 0; round < 1_000 * ROUNDS; round++) {
      ends.merge(taken(mutated(good)), 1, Integer::sum);
    }
    assertTrue(ends.size() > 6, ends::toString);
  }

  @Test
  void anEndAtEachByteIsOnlyAnEnd() throws IOException {
    byte[] good = written(conversation());
    for (int length = 0; length < good.length; length += 3) {
      assertTrue(Set.of("end", "cut").contains(taken(Arrays.copyOf(good, length))));
    }
  }

  @Test
  void framesInAnyOrderEndClearly() throws IOException {
    Map<String, Integer> ends = new TreeMap<>();
    for (int round = 0; round < 500 * ROUNDS; round++) {
      var gateway = new Gateway(2);
      try {
        for (int number = 1; number <= 3; number += 2) {
          gateway.put(FrameKind.OPENED, number, 0, text("{\"credit\":10}"));
        }
        for (int i = 0; i < 100; i++) {
          var kinds =
              List.of(
                  FrameKind.DATA,
                  FrameKind.DATA,
                  FrameKind.DATA,
                  FrameKind.MESSAGE,
                  FrameKind.END,
                  FrameKind.CLOSE,
                  FrameKind.OPENED,
                  FrameKind.REFUSED,
                  FrameKind.OPEN);
          FrameKind kind = kinds.get(random.nextInt(random.nextInt(8) == 0 ? kinds.size() : 4));
          int stream =
              random.nextInt(30) == 0 ? random.nextInt(300) + 1 : 1 + 2 * random.nextInt(2);
          byte[] payload =
              switch (kind.shape()) {
                case JSON -> text("{}");
                case BYTES -> new byte[random.nextInt(20_000)];
                case EMPTY, NUMBER -> new byte[0];
              };
          gateway.put(kind, stream, 0, payload);
        }
      } catch (ProtocolException broken) {
        ends.merge(broken.rule(), 1, Integer::sum);
      }
    }
    assertTrue(
        ends.keySet().containsAll(Set.of("after-end", "unexpected", "credit", "never-opened")),
        ends::toString);
    assertTrue(RULES.containsAll(ends.keySet()), ends::toString);
  }

  @Test
  void anAgentThatTakesNoAnswersCannotFillTheGateway() throws ProtocolException {
    for (boolean isRead : List.of(true, false)) {
      var gateway = new Gateway(0);
      Optional<String> rule = Optional.empty();
      for (int number = 2; rule.isEmpty() && number < 8 * Limits.MAX_UNACKNOWLEDGED; number += 2) {
        try {
          gateway.put(FrameKind.OPEN, number, 0, text("{\"listener\":" + number % 3 + "}"));
          if (number % 3 == 1) {
            gateway.put(FrameKind.CLOSE, number, 0, text("{}"));
          }
        } catch (ProtocolException broken) {
          rule = Optional.of(broken.rule());
        }
        if (isRead) {
          gateway.take();
        }
      }
      assertEquals(Optional.of("unacknowledged"), rule);
      assertTrue(gateway.kept() <= Limits.MAX_UNACKNOWLEDGED + 10);
    }
  }

  @Test
  void aFloodOfTinyDataCostsLittleMoreThanItsBytes() throws Exception {
    var gateway = new Gateway(1);
    gateway.put(FrameKind.OPENED, 1, 0, text("{}"));
    var pieces = new Pieces();
    for (int i = 0; i < Limits.DEFAULT_WINDOW; i++) {
      gateway.put(FrameKind.DATA, 1, 0, new byte[0]);
      gateway.put(FrameKind.DATA, 1, 0, new byte[] {(byte) i});
      pieces.add(ByteBuffer.wrap(new byte[] {(byte) i}));
    }

    assertTrue(pieces.buffers() <= Limits.DEFAULT_WINDOW / 4_096 + 1, "" + pieces.buffers());
    byte[] all = gateway.streams.getFirst().output(0).readNBytes(Limits.DEFAULT_WINDOW);
    for (int i = 0; i < all.length; i++) {
      assertEquals((byte) i, all[i]);
    }
  }

  @Test
  void joinedPiecesComeOutAsTheyWentIn() {
    var pieces = new Pieces();
    var wanted = new ByteArrayOutputStream();
    var got = new ByteArrayOutputStream();
    var target = new byte[9_000];
    for (int i = 0; i < 2_000; i++) {
      byte[] piece = new byte[1 + random.nextInt(random.nextInt(5) == 0 ? 6_000 : 30)];
      random.nextBytes(piece);
      wanted.writeBytes(piece);
      pieces.add(ByteBuffer.wrap(piece));
      while (random.nextInt(3) == 0 && !pieces.isEmpty()) {
        got.write(target, 0, pieces.read(target, 0, 1 + random.nextInt(target.length)));
      }
    }
    assertEquals(wanted.size() - got.size(), pieces.size());
    while (!pieces.isEmpty()) {
      got.write(target, 0, pieces.read(target, 0, target.length));
    }
    assertEquals(ByteBuffer.wrap(wanted.toByteArray()), ByteBuffer.wrap(got.toByteArray()));
  }

  @Test
  void messagesThatNobodyReadsCloseTheirStream() throws ProtocolException {
    var gateway = new Gateway(1);
    gateway.put(FrameKind.OPENED, 1, 0, text("{}"));
    byte[] large = text("{\"a\":[" + "[],".repeat(20_000) + "[]]}");
    for (int i = 0; i < 100; i++) {
      gateway.put(FrameKind.MESSAGE, 1, 0, large);
    }

    gateway.link.lock();
    try {
      assertTrue(gateway.link.stream(1).orElseThrow().isOwnClosed());
    } finally {
      gateway.link.unlock();
    }
  }

  /** Threads and pipes: one agent talks nonsense, again and again; the link beside it works. */
  @Test
  void anAgentThatOnlyBreaksRulesIsGivenUpAndItsNeighbourWorks() throws Exception {
    var good = new FakeAgent(tasks, FakeAgent.Habits.good());
    Link neighbour = link(good, _ -> {});
    neighbour.connect();
    var states = new Recorder<LinkState>();
    var byes = new Recorder<Frame>();
    Link link = link(_ -> nonsense(byes), states::add);

    link.connect();
    states.await(LinkState::isFinal);

    assertTrue(
        assertInstanceOf(LinkState.Over.class, link.state()).reason().startsWith("protocol: "));
    Json.Obj bye = byes.await(_ -> true).json();
    assertEquals("protocol", bye.text("code").orElse(""));
    assertTrue(RULES.contains(bye.object("facts").text("rule").orElse("")));
    var stream = neighbour.open(Json.object("type", "echo"));
    stream.input().write(65);
    assertEquals(65, stream.output(0).read());
  }

  private FakePipe nonsense(Recorder<Frame> byes) throws IOException {
    var pipe = new FakePipe();
    byte[] noise = new byte[200];
    random.nextBytes(noise);
    noise[4] = 0x7f;
    tasks.start(
        "nonsense",
        () -> {
          try (var output = pipe.agentOutput()) {
            output.write(
                written(
                    List.of(json(FrameKind.WELCOME, 0, "{\"agent\":\"x\",\"resumed\":false}"))));
            output.write(noise);
            var reader = new FrameReader(pipe.agentInput());
            for (var next = reader.next(); next.isPresent(); next = reader.next()) {
              next.filter(frame -> frame.kind() == FrameKind.BYE).ifPresent(byes::add);
            }
          } catch (IOException gone) {
            // The gateway has closed the pipe, as it should.
          }
        });
    return pipe;
  }
}
