package dev.gpush.link;

import dev.gpush.core.machine.Pipe;
import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.frame.FrameLimits;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A byte-level proxy around a pipe to an agent, under the test's control: either way is cut after
 * so many bytes or at a place in a frame, stands still, or trickles.
 */
final class FaultyPipe implements Pipe {
  private final Pipe pipe;
  private final Way up;
  private final Way down;
  private final OutputStream input;
  private final InputStream output;

  /**
   * When a way ends.
   *
   * @param frames after so many whole frames …
   * @param bytes … and so many bytes of the next
   * @param isClean an end of file, not an error
   */
  record End(long frames, long bytes, boolean isClean) {
    static End never() {
      return new End(Long.MAX_VALUE, 0, true);
    }

    static End afterBytes(long bytes, boolean isClean) {
      return new End(0, bytes, isClean);
    }
  }

  /** A whole frame that has passed. */
  record Passed(int kind, int stream, int length) {
    boolean isData() {
      return kind == FrameKind.DATA.code();
    }
  }

  /** One direction: knows where in its frames it is. */
  private static final class Way {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final End end;
    private final long delayMicros;

    // guarded by lock
    private boolean frozen;
    private boolean closed;
    private final ByteBuffer header = ByteBuffer.allocate(FrameLimits.HEADER_BYTES);
    private final List<Passed> passed = new ArrayList<>();
    private long left;
    private long afterFrames;

    Way(End end, long delayMicros) {
      this.end = end;
      this.delayMicros = delayMicros;
    }

    void freeze(boolean stands) {
      lock.lock();
      try {
        frozen = stands;
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }

    void close() {
      lock.lock();
      try {
        closed = true;
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }

    /** Waits while frozen; then how many of these bytes may pass, fewer than all at the end. */
    int pass(byte[] bytes, int offset, int length) throws IOException {
      try {
        lock.lockInterruptibly();
        try {
          long nanos = TimeUnit.MICROSECONDS.toNanos(delayMicros);
          while (!closed && (frozen || nanos > 0)) {
            if (frozen) {
              changed.await();
            } else {
              nanos = changed.awaitNanos(nanos);
            }
          }
          if (closed) {
            throw new EOFException("closed");
          }
          int count = 0;
          while (count < length && !isOver()) {
            step(bytes[offset + count++]);
          }
          return count;
        } finally {
          lock.unlock();
        }
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException();
      }
    }

    boolean isAtItsEnd() {
      lock.lock();
      try {
        return isOver();
      } finally {
        lock.unlock();
      }
    }

    private boolean isOver() {
      return passed.size() >= end.frames() && afterFrames >= end.bytes();
    }

    List<Passed> passed() {
      lock.lock();
      try {
        return List.copyOf(passed);
      } finally {
        lock.unlock();
      }
    }

    private void step(byte next) {
      if (passed.size() >= end.frames()) {
        afterFrames++;
      }
      if (header.hasRemaining()) {
        header.put(next);
        left = header.getInt(0);
      } else {
        left--;
      }
      if (!header.hasRemaining() && left == 0) {
        passed.add(new Passed(header.get(4), header.getInt(8), header.getInt(0)));
        header.clear();
      }
    }
  }

  FaultyPipe(Pipe pipe, End up, End down, long delayMicros) {
    this.pipe = pipe;
    this.up = new Way(up, delayMicros);
    this.down = new Way(down, delayMicros);
    this.input = new Up();
    this.output = new Down();
  }

  /** Without faults until the test makes one. */
  FaultyPipe(Pipe pipe) {
    this(pipe, End.never(), End.never(), 0);
  }

  void freezeUp(boolean stands) {
    up.freeze(stands);
  }

  void freezeDown(boolean stands) {
    down.freeze(stands);
  }

  /** The frames that have gone to the agent. */
  List<Passed> wentUp() {
    return up.passed();
  }

  /** The frames that have come from the agent. */
  List<Passed> cameDown() {
    return down.passed();
  }

  private final class Up extends OutputStream {
    @Override
    public void write(int value) throws IOException {
      write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] source, int offset, int length) throws IOException {
      int count = up.pass(source, offset, length);
      pipe.input().write(source, offset, count);
      pipe.input().flush();
      if (up.isAtItsEnd()) {
        pipe.close();
      }
      if (count < length) {
        throw new IOException("cut on the way up");
      }
    }
  }

  private final class Down extends InputStream {
    @Override
    public int read() throws IOException {
      var one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      // Looked at first, or the cut would wait for something else to come.
      if (!down.isAtItsEnd()) {
        int came = pipe.output().read(target, offset, length);
        int count = came < 0 ? came : down.pass(target, offset, came);
        if (count != 0 || came == 0) {
          return count;
        }
      }
      pipe.close();
      if (down.end.isClean()) {
        return -1;
      }
      throw new IOException("cut on the way down");
    }
  }

  @Override
  public OutputStream input() {
    return input;
  }

  @Override
  public InputStream output() {
    return output;
  }

  @Override
  public InputStream errors() {
    return pipe.errors();
  }

  @Override
  public int await() throws InterruptedException {
    return pipe.await();
  }

  @Override
  public void close() throws IOException {
    up.close();
    down.close();
    pipe.close();
  }
}
