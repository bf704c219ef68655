package dev.gpush.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.frame.FrameReader;
import dev.gpush.link.frame.FrameWriter;
import dev.gpush.link.machine.LinkLimits;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
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

  private Link link(PipeSource pipes, Consumer<LinkState> listener) {
    var identity = new LinkIdentity(0, "me", "0".repeat(32), 1);
    var link =
        new Link(
            identity, pipes, tasks, Clock.system(), new Random(1), LinkTiming.usual(), listener);
    links.add(link);
    return link;
  }

  /** A link whose agent is the test itself, with one stream that it has accepted. */
  private final class Scripted {
    private final FakePipe pipe = new FakePipe();
    private final FrameWriter agent = new FrameWriter(pipe.agentOutput());
    private final BlockingStream stream;
    private long sequence;

    Scripted() throws Exception {
      Link link = link(() -> pipe, _ -> {});
      agent.write(json(FrameKind.WELCOME, 0, "{\"agent\":\"a\"}"));
      agent.flush();
      link.connect();
      stream = link.open(Json.object("type", "exec"));
      var reader = new FrameReader(pipe.agentInput());
      while (reader.next().orElseThrow().kind() != FrameKind.OPEN) {}
      put(json(FrameKind.OPENED, 1, "{}"));
      agent.flush();
      stream.awaitOpened();
      tasks.start(
          "drain",
          () -> {
            try {
              while (reader.next().isPresent()) {}
            } catch (IOException gone) {
              // The gateway has closed the pipe.
            }
          });
    }

    void put(Frame frame) throws IOException {
      agent.write(frame.numbered(++sequence));
    }
  }

  private static byte[] text(String json) {
    return json.getBytes(StandardCharsets.UTF_8);
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

  @Test
  void aFloodOfTinyDataCostsLittleMoreThanItsBytes() throws Exception {
    var scripted = new Scripted();
    var pieces = new Pieces();
    for (int i = 0; i < LinkLimits.DEFAULT_WINDOW; i++) {
      scripted.put(data(1, 0, 0));
      scripted.put(new Frame(FrameKind.DATA, 0, 1, 0, ByteBuffer.wrap(new byte[] {(byte) i})));
      pieces.add(ByteBuffer.wrap(new byte[] {(byte) i}));
    }

    assertTrue(pieces.buffers() <= LinkLimits.DEFAULT_WINDOW / 4_096 + 1, "" + pieces.buffers());
    scripted.agent.flush();
    byte[] all = scripted.stream.output(0).readNBytes(LinkLimits.DEFAULT_WINDOW);
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
  void messagesThatNobodyReadsCloseTheirStream() throws Exception {
    var scripted = new Scripted();
    Frame large = json(FrameKind.MESSAGE, 1, "{\"a\":[" + "[],".repeat(20_000) + "[]]}");
    for (int i = 0; i < 100; i++) {
      scripted.put(large);
    }
    scripted.agent.flush();

    var writable = new CountDownLatch(1);
    var stream = scripted.stream.stream();
    stream.onWritable(writable::countDown);
    writable.await();
    assertThrows(StreamClosedException.class, () -> stream.message(Json.object()));
  }

  /** Threads and pipes: one agent talks nonsense, again and again; the link beside it works. */
  @Test
  void anAgentThatOnlyBreaksRulesIsGivenUpAndItsNeighbourWorks() throws Exception {
    var good = new FakeAgent(tasks, FakeAgent.Habits.good());
    Link neighbour = link(good, _ -> {});
    neighbour.connect();
    var states = new Recorder<LinkState>();
    var byes = new Recorder<Frame>();
    Link link = link(() -> nonsense(byes), states::add);

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
