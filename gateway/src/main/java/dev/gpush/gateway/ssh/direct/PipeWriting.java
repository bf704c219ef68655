package dev.gpush.gateway.ssh.direct;

import dev.gpush.core.json.Json;
import dev.gpush.gateway.ssh.flow.NodeInput;
import dev.gpush.link.LinkStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Writes what the client sends into the input of a program on this machine, on one thread. Begins
 * once the agent has written all that came through the link.
 */
final class PipeWriting implements NodeInput {
  private static final int MOST_WAITING = 512 << 10;
  private static final int GATHERED = 16;

  private final NodePipe pipe;
  private final LinkStream stream;
  private final PassedBytes passed;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // guarded by lock
  private final ArrayDeque<ByteBuffer> waiting = new ArrayDeque<>();
  private Optional<Runnable> writable = Optional.empty();
  private int bytes;
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
      waiting.clear();
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
      ByteBuffer[] next = await();
      while (next.length > 0) {
        pipe.channel().write(next);
        written(next);
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
  private ByteBuffer[] await() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      boolean isOver = isBroken;
      while (!isOver && (waiting.isEmpty() || !mayWrite)) {
        isOver = waiting.isEmpty() && (hasEnded || isClosed);
        if (!isOver) {
          changed.await();
          isOver = isBroken;
        }
      }
      return waiting.stream().limit(GATHERED).toArray(ByteBuffer[]::new);
    } finally {
      lock.unlock();
    }
  }

  private void written(ByteBuffer[] next) {
    Optional<Runnable> action = Optional.empty();
    lock.lock();
    try {
      for (ByteBuffer piece : next) {
        if (!piece.hasRemaining() && !waiting.isEmpty()) {
          waiting.remove();
          bytes -= piece.limit();
        }
      }
      if (bytes < MOST_WAITING / 2) {
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
    int count = from.remaining();
    lock.lock();
    try {
      if (isBroken || hasEnded || isClosed) {
        throw new IOException("the program reads no more");
      }
      if (bytes >= MOST_WAITING) {
        return 0;
      }
      passed.went(count);
      waiting.add(ByteBuffer.allocate(count).put(from).flip());
      bytes += count;
      changed.signalAll();
      return count;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void onWritable(Runnable action) {
    lock.lock();
    try {
      if (bytes >= MOST_WAITING && !isBroken) {
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
