package dev.gpush.ssh.direct;

import dev.gpush.core.json.Json;
import dev.gpush.link.LinkStream;
import dev.gpush.ssh.flow.NodeInput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Writes what the client sends into the input of a program on this machine, on one thread. Begins
 * once the agent has written all that came through the link.
 */
final class PipeWriting implements NodeInput {
  /** Bytes that wait, in memory that the kernel reads without another copy. */
  private static final int CAPACITY = 512 << 10;

  private final NodePipe pipe;
  private final LinkStream stream;
  private final PassedBytes passed;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  /** A ring; the thread that writes reads what is in it without the lock. */
  private final ByteBuffer ring = ByteBuffer.allocateDirect(CAPACITY);

  // guarded by lock
  private int start;
  private int bytes;
  private Optional<Runnable> writable = Optional.empty();
  private boolean mayWrite;
  private boolean isBroken;
  private boolean hasEnded;
  private boolean isClosed;

  PipeWriting(NodePipe pipe, LinkStream stream, PassedBytes passed) {
    this.pipe = pipe;
    this.stream = stream;
    this.passed = passed;
  }

  /** The agent writes no more. */
  void mayWrite() {
    lock.lock();
    try {
      mayWrite = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** The program does not read any more, or the agent is gone. */
  void breakOff() {
    Optional<Runnable> action;
    lock.lock();
    try {
      isBroken = true;
      bytes = 0;
      action = writable;
      writable = Optional.empty();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    pipe.close();
    action.ifPresent(Runnable::run);
  }

  /** Until the client has sent its last byte, or the program reads no more. */
  void run() throws InterruptedException {
    try {
      ByteBuffer next = await();
      while (next.hasRemaining()) {
        written(pipe.channel().write(next));
        next = await();
      }
    } catch (IOException noReader) {
      breakOff();
    } finally {
      pipe.close();
    }
    lock.lock();
    try {
      if (isClosed) {
        stream.close(Json.object());
      } else if (hasEnded || isBroken) {
        stream.end(0);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Empty at the end. */
  private ByteBuffer await() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      boolean isOver = isBroken;
      while (!isOver && (bytes == 0 || !mayWrite)) {
        isOver = bytes == 0 && (hasEnded || isClosed);
        if (!isOver) {
          changed.await();
          isOver = isBroken;
        }
      }
      return ring.duplicate().position(start).limit(Math.min(start + bytes, CAPACITY));
    } finally {
      lock.unlock();
    }
  }

  private void written(int count) {
    Optional<Runnable> action = Optional.empty();
    lock.lock();
    try {
      if (!isBroken) {
        start = (start + count) % CAPACITY;
        bytes -= count;
      }
      if (bytes < CAPACITY / 2) {
        action = writable;
        writable = Optional.empty();
      }
    } finally {
      lock.unlock();
    }
    action.ifPresent(Runnable::run);
  }

  // ---- for the inlet

  @Override
  public int trySend(ByteBuffer from) throws IOException {
    lock.lock();
    try {
      if (isBroken || hasEnded || isClosed) {
        throw new IOException("the program reads no more");
      }
      int count = Math.min(from.remaining(), CAPACITY - bytes);
      int end = (start + bytes) % CAPACITY;
      int before = Math.min(count, CAPACITY - end);
      ring.put(end, from, from.position(), before);
      ring.put(0, from, from.position() + before, count - before);
      from.position(from.position() + count);
      if (count > 0) {
        passed.went(count);
        bytes += count;
        changed.signalAll();
      }
      return count;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void onWritable(Runnable action) {
    lock.lock();
    try {
      if (bytes == CAPACITY && !isBroken) {
        writable = Optional.of(action);
        return;
      }
    } finally {
      lock.unlock();
    }
    action.run();
  }

  @Override
  public void end() {
    lock.lock();
    try {
      hasEnded = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      isClosed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean hasCopied() {
    return true;
  }
}
