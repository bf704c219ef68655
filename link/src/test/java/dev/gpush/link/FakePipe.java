package dev.gpush.link;

import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A pipe in memory, which may break after so many bytes in one direction, as pipes do: in the
 * middle of anything.
 */
final class FakePipe implements Pipe {
  private final Channel toAgent;
  private final Channel toGateway;
  private final boolean holdsBack;

  private FakePipe(Channel toAgent, Channel toGateway, boolean holdsBack) {
    this.toAgent = toAgent;
    this.toGateway = toGateway;
    this.holdsBack = holdsBack;
  }

  FakePipe(long breakToAgent, long breakToGateway) {
    this(new Channel(breakToAgent), new Channel(breakToGateway), false);
  }

  /** It says so; it does not do it. */
  static FakePipe holdingBack() {
    return new FakePipe(new Channel(Long.MAX_VALUE), new Channel(Long.MAX_VALUE), true);
  }

  @Override
  public boolean holdsBack() {
    return holdsBack;
  }

  FakePipe() {
    this(Long.MAX_VALUE, Long.MAX_VALUE);
  }

  /** A bounded buffer between two threads. */
  private static final class Channel {
    private static final int CAPACITY = 64 << 10;

    /** Every third, as if the pipe were full, so that all tests go both ways. */
    private static final int REFUSED_OFFER = 3;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final CountDownLatch failed = new CountDownLatch(1);

    // guarded by lock
    private final byte[] ring = new byte[CAPACITY];
    private long written;
    private long read;
    private long breakAfter;
    private boolean closed;
    private int offers;

    Channel(long breakAfter) {
      this.breakAfter = breakAfter;
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

    void write(byte[] source, int offset, int length) throws IOException {
      lock.lock();
      try {
        for (int i = 0; i < length; i++) {
          while (!closed && written - read == CAPACITY) {
            changed.signalAll();
            changed.awaitUninterruptibly();
          }
          if (closed || written == breakAfter) {
            closed = true;
            changed.signalAll();
            failed.countDown();
            throw new IOException("broken pipe");
          }
          ring[(int) (written++ % CAPACITY)] = source[offset + i];
        }
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }

    boolean offer(ByteBuffer bytes) throws IOException {
      lock.lock();
      try {
        boolean isTaken =
            ++offers % REFUSED_OFFER != 0 && CAPACITY - (written - read) >= bytes.remaining();
        if (isTaken) {
          write(bytes.array(), bytes.arrayOffset() + bytes.position(), bytes.remaining());
        }
        return isTaken;
      } finally {
        lock.unlock();
      }
    }

    int read(byte[] target, int offset, int length) {
      lock.lock();
      try {
        while (!closed && written == read) {
          changed.awaitUninterruptibly();
        }
        int count = (int) Math.min(length, written - read);
        for (int i = 0; i < count; i++) {
          target[offset + i] = ring[(int) (read++ % CAPACITY)];
        }
        changed.signalAll();
        return count == 0 ? -1 : count;
      } finally {
        lock.unlock();
      }
    }

    InputStream input() {
      return new InputStream() {
        @Override
        public int read() {
          var one = new byte[1];
          return Channel.this.read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
        }

        @Override
        public int read(byte[] target, int offset, int length) {
          return length == 0 ? 0 : Channel.this.read(target, offset, length);
        }
      };
    }

    OutputStream output() {
      return new OutputStream() {
        @Override
        public void write(int value) throws IOException {
          Channel.this.write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] source, int offset, int length) throws IOException {
          Channel.this.write(source, offset, length);
        }
      };
    }
  }

  /** The agent's end of our output is gone; what it has said can still be read. */
  void breakInput() {
    toAgent.close();
  }

  void awaitFailedWrite() throws InterruptedException {
    toAgent.failed.await();
  }

  InputStream agentInput() {
    return toAgent.input();
  }

  OutputStream agentOutput() {
    return toGateway.output();
  }

  @Override
  public OutputStream input() {
    return toAgent.output();
  }

  @Override
  public boolean offer(ByteBuffer bytes) throws IOException {
    return toAgent.offer(bytes);
  }

  @Override
  public InputStream output() {
    return toGateway.input();
  }

  @Override
  public InputStream errors() {
    return InputStream.nullInputStream();
  }

  @Override
  public int await() {
    return 0;
  }

  @Override
  public void close() {
    toAgent.close();
    toGateway.close();
  }
}
