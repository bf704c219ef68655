package dev.gpush.link.frame;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class FrameCodecTest {
  private static final int ROUNDS = 20;

  /** Gives what was asked for in pieces of random size, as pipes do. */
  private static final class Pieces extends InputStream {
    private final InputStream source;
    private final Random random;

    Pieces(byte[] bytes, Random random) {
      this.source = new ByteArrayInputStream(bytes);
      this.random = random;
    }

    @Override
    public int read() throws IOException {
      return source.read();
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      return source.read(target, offset, Math.min(length, 1 + random.nextInt(70_000)));
    }
  }

  static LongStream seeds() {
    return new Random(Long.getLong("gpush.seed", new Random().nextLong())).longs(ROUNDS);
  }

  private static Frame randomFrame(Random random) {
    var kinds = FrameKind.values();
    FrameKind kind = kinds[random.nextInt(kinds.length)];
    byte[] payload =
        switch (kind.shape()) {
          case NUMBER -> new byte[Long.BYTES];
          case EMPTY -> new byte[0];
          case BYTES ->
              new byte
                  [random.nextInt(4) == 0
                      ? random.nextInt(FrameLimits.MAX_PIECE + 1)
                      : random.nextInt(100)];
          case JSON ->
              ("{\"a\":" + random.nextInt() + "}")
                  .getBytes(java.nio.charset.StandardCharsets.UTF_8);
        };
    if (kind.shape() != FrameKind.Shape.JSON) {
      random.nextBytes(payload);
    }
    return new Frame(
        kind,
        random.nextInt(2) & kind.flagMask(),
        kind.isOfStream() ? 1 + random.nextInt(Integer.MAX_VALUE) : 0,
        kind.isSequenced() ? 1 + random.nextLong(Long.MAX_VALUE) : 0,
        ByteBuffer.wrap(payload));
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

  private static List<Frame> read(InputStream input) throws IOException {
    var reader = new FrameReader(input);
    var frames = new ArrayList<Frame>();
    for (var next = reader.next(); next.isPresent(); next = reader.next()) {
      frames.add(next.orElseThrow());
    }
    return frames;
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void readsWhatItWrites(long seed) throws IOException {
    var random = new Random(seed);
    var frames = random.ints(200, 0, 1).mapToObj(_ -> randomFrame(random)).toList();

    byte[] bytes = written(frames);

    assertEquals(frames, read(new Pieces(bytes, random)));
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void anyBytesGiveFramesOrAProtocolError(long seed) throws IOException {
    var random = new Random(seed);
    byte[] bytes = written(random.ints(50, 0, 1).mapToObj(_ -> randomFrame(random)).toList());

    for (int round = 0; round < 50; round++) {
      byte[] broken = bytes.clone();
      for (int change = random.nextInt(4); change >= 0; change--) {
        broken[random.nextInt(broken.length)] = (byte) random.nextInt();
      }
      readsToSomeEnd(Arrays.copyOf(broken, random.nextInt(broken.length) + 1), random);
    }
  }

  private static void readsToSomeEnd(byte[] bytes, Random random) throws IOException {
    try {
      for (Frame frame : read(new Pieces(bytes, random))) {
        assertTrue(frame.length() <= FrameLimits.MAX_PAYLOAD);
      }
    } catch (ProtocolException | EOFException refused) {
      assertTrue(String.valueOf(refused.getMessage()).length() < 200);
    }
  }

  @ParameterizedTest
  @EnumSource(FrameKind.class)
  void everyKindHasItsCode(FrameKind kind) {
    assertEquals(kind, FrameKind.ofCode(kind.code()).orElseThrow());
  }

  @Test
  void anEndInsideAFrameIsNoCleanEnd() throws IOException {
    byte[] bytes =
        written(List.of(new Frame(FrameKind.DATA, 0, 1, 1, ByteBuffer.wrap(new byte[100]))));

    for (int length = 1; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThrows(EOFException.class, () -> read(new ByteArrayInputStream(cut)));
    }
  }

  @Test
  void replayingAFrameWritesTheSameBytes() throws IOException {
    var frame =
        new Frame(FrameKind.DATA, 1, 3, 9, ByteBuffer.wrap(new byte[FrameLimits.MAX_PIECE]));

    assertTrue(Arrays.equals(written(List.of(frame)), written(List.of(frame))));
  }

  @Test
  void bytesOutsideTheSliceAreNotSent() throws IOException {
    var all = ByteBuffer.wrap(new byte[100_000]).slice(10_000, 50_000);
    var frame = new Frame(FrameKind.DATA, 0, 1, 1, all.position(7));

    assertEquals(
        49_993, read(new ByteArrayInputStream(written(List.of(frame)))).getFirst().length());
  }

  @Test
  void aReadOnlyBufferIsSentToo() throws IOException {
    var frame =
        new Frame(FrameKind.DATA, 0, 1, 1, ByteBuffer.wrap(new byte[100_000]).asReadOnlyBuffer());

    assertEquals(
        100_000, read(new ByteArrayInputStream(written(List.of(frame)))).getFirst().length());
  }

  @Test
  void jsonComesBack() throws IOException {
    var json = Json.object("code", "held", "facts", Json.object("label", "gpu 3"));

    assertEquals(json, Frame.ofJson(FrameKind.REFUSED, 0, 1, json).json());
  }
}
