package dev.gpush.sync.pace;

import dev.gpush.core.task.Clock;
import dev.gpush.link.frame.FrameLimits;
import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Optional;

/**
 * How long a node has kept its conversation waiting: for room for what is sent, or for the next
 * bytes of an answer. Work on this machine in between is no waiting. Thread-safe.
 */
public final class NodeWaiting {
  private final Clock clock;

  // guarded by this
  private Optional<Long> since = Optional.empty();

  public NodeWaiting(Clock clock) {
    this.clock = clock;
  }

  /** Since its last sign of life; zero while nothing is expected of it. */
  public synchronized Duration time() {
    return since.map(begun -> Duration.ofNanos(clock.nanos() - begun)).orElse(Duration.ZERO);
  }

  /** What only the node can end. */
  @FunctionalInterface
  public interface Call<T> {
    T run() throws IOException, InterruptedException;
  }

  /** Bytes of these reads are signs of life, on whatever thread. */
  public InputStream in(InputStream in) {
    return new Input(in);
  }

  /** Measures the writes. */
  public OutputStream out(OutputStream out) {
    return new Output(out);
  }

  /** Measures this. */
  public <T> T during(Call<T> call) throws IOException, InterruptedException {
    waits(Optional.of(clock.nanos()));
    try {
      return call.run();
    } finally {
      waits(Optional.empty());
    }
  }

  private synchronized void waits(Optional<Long> from) {
    since = from;
  }

  private synchronized void heard() {
    since = since.map(_ -> clock.nanos());
  }

  private <T> T io(Call<T> call) throws IOException {
    try {
      return during(call);
    } catch (InterruptedException impossible) {
      throw new IllegalStateException("streams do not throw it", impossible);
    }
  }

  private final class Input extends FilterInputStream {
    Input(InputStream in) {
      super(in);
    }

    @Override
    public int read() throws IOException {
      int one = in.read();
      heard();
      return one;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      int count = in.read(target, offset, length);
      heard();
      return count;
    }
  }

  private final class Output extends FilterOutputStream {
    Output(OutputStream out) {
      super(out);
    }

    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    /** In pieces: a node that takes one now and then is alive. */
    @Override
    public void write(byte[] source, int offset, int length) throws IOException {
      for (int done = 0; done < length; ) {
        int from = offset + done;
        int piece = Math.min(length - done, FrameLimits.PIECE);
        io(
            () -> {
              out.write(source, from, piece);
              return piece;
            });
        done += piece;
      }
    }
  }
}
