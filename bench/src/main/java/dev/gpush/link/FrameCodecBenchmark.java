package dev.gpush.link;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * What a frame costs by itself: one operation is one frame, read from memory or written to nowhere.
 * In this package because the codec is nobody else's.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class FrameCodecBenchmark {
  private static final int FRAMES = 64;

  /** A keystroke, a line, a pty's read, a piece of bulk. */
  @Param({"1", "80", "4096", "131072"})
  public int bytes;

  private Frame frame = data(0);
  private byte[] written = new byte[0];

  private static Frame data(int size) {
    byte[] payload = new byte[size];
    new Random(1).nextBytes(payload);
    return new Frame(FrameKind.DATA, 0, 1, 1, ByteBuffer.wrap(payload));
  }

  @Setup
  public void prepare() throws IOException {
    frame = data(bytes);
    var output = new ByteArrayOutputStream();
    writeTo(output);
    written = output.toByteArray();
  }

  private void writeTo(OutputStream output) throws IOException {
    var writer = new FrameWriter(output);
    for (int i = 0; i < FRAMES; i++) {
      writer.write(frame);
    }
    writer.flush();
  }

  @Benchmark
  @OperationsPerInvocation(FRAMES)
  public void write() throws IOException {
    writeTo(OutputStream.nullOutputStream());
  }

  @Benchmark
  @OperationsPerInvocation(FRAMES)
  public void read(Blackhole hole) throws IOException {
    var reader = new FrameReader(new ByteArrayInputStream(written));
    for (Optional<Frame> next = reader.next(); next.isPresent(); next = reader.next()) {
      hole.consume(next.orElseThrow());
    }
  }
}
