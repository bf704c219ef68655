package dev.gpush.link;

import dev.gpush.core.backend.Pipe;
import dev.gpush.testkit.fake.ProcessPipe;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A byte-level proxy around a relay, under the test's control: either way is cut after so many
 * bytes or at a place in a frame, stands still, or trickles.
 */
final class FaultyPipe implements Pipe {
  private static final int HEADER = 20;

  private final ProcessPipe pipe;
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

  /** One direction: knows where in its frames it is. */
  private static final class Way {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final End end;
    private final long delayMicros;

    // guarded by lock
    private boolean frozen;
    private boolean closed;
    private long frames;
    private long left;
    private int headerBytes;
    private long length;
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

    private boolean isOver() {
      return frames >= end.frames() && afterFrames >= end.bytes();
    }

    private void step(byte next) {
      if (frames >= end.frames()) {
        afterFrames++;
      }
      if (headerBytes < HEADER) {
        if (headerBytes < 4) {
          length = length << 8 | Byte.toUnsignedLong(next);
        }
        if (++headerBytes == HEADER) {
          left = length;
        }
      } else {
        left--;
      }
      if (headerBytes == HEADER && left == 0) {
        headerBytes = 0;
        length = 0;
        frames++;
      }
    }
  }

  FaultyPipe(ProcessPipe pipe, End up, End down, long delayMicros) {
    this.pipe = pipe;
    this.up = new Way(up, delayMicros);
    this.down = new Way(down, delayMicros);
    this.input = new Up();
    this.output = new Down();
  }

  /** Without faults until the test makes one. */
  FaultyPipe(ProcessPipe pipe) {
    this(pipe, End.never(), End.never(), 0);
  }

  void freezeUp(boolean stands) {
    up.freeze(stands);
  }

  void freezeDown(boolean stands) {
    down.freeze(stands);
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
      if (count < length) {
        pipe.close();
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
      int came = pipe.output().read(target, offset, length);
      if (came < 0) {
        return -1;
      }
      int count = down.pass(target, offset, came);
      if (count > 0 || came == 0) {
        return count;
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
