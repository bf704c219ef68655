package dev.gpush.control.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FramesTest {
  private static final int ROUNDS = 2000;

  @ParameterizedTest
  @EnumSource
  void carriesEveryKindUpToItsLimit(Kind kind) throws IOException {
    byte[] payload = new byte[kind.limit()];
    new Random(1).nextBytes(payload);

    ControlFrame read = read(written(new ControlFrame(kind, payload))).getFirst();

    assertEquals(kind, read.kind());
    assertArrayEquals(payload, read.payload());
  }

  @ParameterizedTest
  @EnumSource
  void refusesLengthBeyondTheKindsLimit(Kind kind) {
    byte[] header =
        ByteBuffer.allocate(5).putInt(kind.limit() + 1).put((byte) kind.number()).array();

    assertThrows(ControlProtocolException.class, () -> read(header));
    assertThrows(
        IllegalArgumentException.class, () -> new ControlFrame(kind, new byte[kind.limit() + 1]));
  }

  @Test
  void refusesUnknownKind() {
    assertThrows(ControlProtocolException.class, () -> read(new byte[] {0, 0, 0, 0, 99}));
  }

  @Test
  void refusesNegativeLength() {
    assertThrows(ControlProtocolException.class, () -> read(new byte[] {-1, 0, 0, 0, 3}));
  }

  @Test
  void tellsAnEndBetweenFramesFromOneInside() throws IOException {
    byte[] whole = written(new Payload().text("INT").frame(Kind.SIGNAL));

    assertEquals(1, read(whole).size());
    for (int cut = 1; cut < whole.length; cut++) {
      byte[] part = Arrays.copyOf(whole, cut);
      assertThrows(EOFException.class, () -> read(part), "cut at " + cut);
    }
  }

  @Test
  void givesBackWhatItCarries() throws IOException {
    var facts = new Facts(new Facts.Terminals(true, false, true), 120, 40, "xterm-256color", 256);
    var request =
        new Request(
            List.of("run", "tränen.py", "", "a b\n", "caf\udce9", "\ud83d\ude00\udcff"),
            "/home/ü",
            Map.of("PATH", "/bin", "EMPTY", "", "LC_TEST", "\udc80"),
            facts,
            4711);
    var greeting = Greeting.of("abc", "/home/u/.gpush", 12);
    var spawn = new Spawn(List.of("ssh", "devbox"), Map.of("A", "b"));
    var refusal = new Refusal("what", "because", "try");

    assertEquals(request, Request.of(request.frame()));
    assertEquals(greeting, Greeting.of(greeting.frame()));
    assertEquals(spawn, Spawn.of(spawn.frame()));
    assertEquals(refusal, Refusal.of(refusal.frame()));
  }

  @Test
  void readsTheGreetingOfALaterProtocol() throws IOException {
    byte[] ours = Greeting.of("b", "/h", 1).frame().payload();
    byte[] longer = Arrays.copyOf(ours, ours.length + 7);
    longer[7] = 9;

    Greeting later = Greeting.of(new ControlFrame(Kind.HELLO, longer));

    assertEquals(9, later.protocol());
    assertEquals("/h", later.home());
  }

  @Test
  void refusesAGreetingThatIsNotOurs() {
    ControlFrame other = new Payload().number(42).text("x").frame(Kind.HELLO);

    assertThrows(ControlProtocolException.class, () -> Greeting.of(other));
  }

  @Test
  void refusesCountsThatCannotBe() {
    ControlFrame list = new Payload().number(Integer.MAX_VALUE).frame(Kind.SPAWN);
    ControlFrame text = new Payload().number(1).number(1000).text("x").frame(Kind.SPAWN);

    assertThrows(ControlProtocolException.class, () -> Spawn.of(list));
    assertThrows(ControlProtocolException.class, () -> Spawn.of(text));
  }

  @Test
  void saysSoOfAnyBytes() {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    var random = new Random(seed);
    for (int round = 0; round < ROUNDS; round++) {
      byte[] bytes = disturbed(random);
      try {
        for (ControlFrame frame : read(bytes)) {
          decode(frame);
        }
      } catch (ControlProtocolException | EOFException expected) {
        // The two answers to bytes that are no conversation.
      } catch (IOException | RuntimeException bug) {
        throw new AssertionError("seed " + seed + ", round " + round, bug);
      }
    }
  }

  @Test
  void readsTheSameHoweverTheBytesArrive() throws IOException {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    var random = new Random(seed);
    byte[] payload = new byte[Kind.CHUNK];
    random.nextBytes(payload);
    byte[] bytes =
        written(
            new ControlFrame(Kind.OUTPUT, payload),
            new Payload().number(1).frame(Kind.WANT),
            new ControlFrame(Kind.ERROR, Arrays.copyOf(payload, 3)),
            new ControlFrame(Kind.INPUT_END, new byte[0]));
    var source = new ByteArrayInputStream(bytes);
    var pieces =
        new java.io.FilterInputStream(source) {
          @Override
          public int read(byte[] target, int offset, int length) throws IOException {
            return super.read(target, offset, Math.min(length, 1 + random.nextInt(9000)));
          }
        };

    var reader = new ControlFrameReader(Channels.newChannel(pieces));

    assertArrayEquals(payload, reader.next().orElseThrow().payload(), "seed " + seed);
    assertEquals(Kind.WANT, reader.next().orElseThrow().kind());
    assertEquals(3, reader.next().orElseThrow().payload().length);
    assertEquals(Kind.INPUT_END, reader.next().orElseThrow().kind());
    assertTrue(reader.next().isEmpty());
  }

  /** A good conversation with a few bytes changed, or no conversation at all. */
  private static byte[] disturbed(Random random) {
    if (random.nextInt(4) == 0) {
      byte[] noise = new byte[random.nextInt(200)];
      random.nextBytes(noise);
      return noise;
    }
    var request =
        new Request(List.of("ps"), "/", Map.of("A", "b", "C", "d"), Facts.NONE, random.nextLong());
    byte[] bytes =
        written(
            Greeting.of("b", "/h", 1).frame(),
            request.frame(),
            new Spawn(List.of("a"), Map.of()).frame());
    for (int i = random.nextInt(4); i >= 0; i--) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
    }
    return bytes;
  }

  private static void decode(ControlFrame frame) throws ControlProtocolException {
    switch (frame.kind()) {
      case HELLO -> Greeting.of(frame);
      case REQUEST -> Request.of(frame);
      case SPAWN -> Spawn.of(frame);
      case REFUSED -> Refusal.of(frame);
      default -> {}
    }
  }

  private static byte[] written(ControlFrame... frames) {
    var bytes = new ByteArrayOutputStream();
    var writer = new ControlFrameWriter(Channels.newChannel(bytes));
    try {
      for (ControlFrame frame : frames) {
        writer.write(frame);
      }
    } catch (IOException impossible) {
      throw new AssertionError(impossible);
    }
    return bytes.toByteArray();
  }

  private static List<ControlFrame> read(byte[] bytes) throws IOException {
    var reader = new ControlFrameReader(Channels.newChannel(new ByteArrayInputStream(bytes)));
    var frames = new ArrayList<ControlFrame>();
    for (Optional<ControlFrame> next = reader.next(); next.isPresent(); next = reader.next()) {
      frames.add(next.get());
    }
    return frames;
  }
}
