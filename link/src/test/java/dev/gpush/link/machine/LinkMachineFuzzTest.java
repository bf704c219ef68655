package dev.gpush.link.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.frame.FrameReader;
import dev.gpush.link.frame.FrameWriter;
import dev.gpush.link.frame.ProtocolException;
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
import org.junit.jupiter.api.Test;

/**
 * What no agent says, said to the gateway's side: a clear end, bounded memory, and nothing else
 * harmed. {@code -Dgpush.seed} repeats a run, {@code -Dgpush.rounds} makes it longer.
 */
class LinkMachineFuzzTest {
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

  static {
    System.out.println("seed of the link machine's fuzz: -Dgpush.seed=" + SEED);
  }

  /** The gateway's side with an agent that has greeted it: frames go straight to the machine. */
  private static final class Gateway {
    private static final int PIPE = 1;

    private final LinkMachine machine =
        new LinkMachine(
            Json.object("version", 2),
            new LinkWaits(5, 30, 2, 20, 900, 60, 1, 5),
            new Random(1),
            LinkLimits.POOL_BYTES,
            0);
    private long sequence;

    Gateway(int streams) {
      for (int i = 0; i < streams; i++) {
        open("exec");
      }
      open("listen-tcp");
      machine.connect(0);
      machine.pipeOpened(PIPE, false, 0);
      take();
      Json.Obj welcome = Json.object("agent", "a");
      machine.received(PIPE, Frame.ofJson(FrameKind.WELCOME, 0, 0, welcome), welcome, 0);
      take();
    }

    private void open(String type) {
      machine.announce(machine.reserve(LinkLimits.DEFAULT_WINDOW), Json.object("type", type));
    }

    List<Frame> take() {
      var batch = new ArrayList<Frame>();
      machine.take(PIPE, batch, 0);
      return batch;
    }

    void accept(Frame frame) throws ProtocolException {
      Json.Obj json = frame.kind().shape() == FrameKind.Shape.JSON ? frame.json() : Json.object();
      if (!frame.kind().isSequenced() && frame.kind().shape() == FrameKind.Shape.JSON) {
        return;
      }
      machine.received(PIPE, frame, json, 0);
      while (machine.hasEvents()) {
        LinkEvent event = machine.nextEvent().orElseThrow();
        if (event instanceof LinkEvent.Offered(var stream, var listener, _)) {
          if (listener.isPresent()) {
            machine.accept(stream);
          } else {
            machine.refuse(stream, "not-found");
          }
        }
      }
      Optional<ProtocolException> broken = broken();
      if (broken.isPresent()) {
        throw broken.orElseThrow();
      }
    }

    /** The rule that the machine has told the agent it broke. */
    private Optional<ProtocolException> broken() throws ProtocolException {
      if (machine.isWriting(PIPE)) {
        return Optional.empty();
      }
      for (Frame frame : take()) {
        if (frame.kind() == FrameKind.BYE) {
          Json.Obj facts = frame.json().object("facts");
          return Optional.of(
              new ProtocolException(
                  facts.text("rule").orElse(""), facts.text("detail").orElse("")));
        }
      }
      throw new AssertionError("no BYE");
    }

    void put(FrameKind kind, int stream, int flags, byte[] payload) throws ProtocolException {
      accept(new Frame(kind, flags, stream, ++sequence, ByteBuffer.wrap(payload)));
    }

    int kept() {
      assertTrue(machine.openStreams() <= LinkLimits.MAX_STREAMS);
      return machine.keptFrames();
    }
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
      for (int number = 2;
          rule.isEmpty() && number < 8 * LinkLimits.MAX_UNACKNOWLEDGED;
          number += 2) {
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
      assertTrue(gateway.kept() <= LinkLimits.MAX_UNACKNOWLEDGED + 10);
    }
  }
}
