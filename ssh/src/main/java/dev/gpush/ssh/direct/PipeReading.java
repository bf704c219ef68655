package dev.gpush.ssh.direct;

import dev.gpush.ssh.flow.Outlet;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Reads the output of a program on this machine and writes it to the client, on one thread: bulk
 * then passes neither the link nor the agent.
 */
final class PipeReading {
  /** As large as the agent makes such a pipe would be more than fits the processor's cache. */
  private static final int READ_BYTES = 128 << 10;

  private final NodePipe pipe;
  private final int from;
  private final Outlet outlet;
  private final PassedBytes passed;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // guarded by lock
  private int waiting;

  /**
   * @param from 0 standard output, 1 standard error
   */
  PipeReading(NodePipe pipe, int from, Outlet outlet, PassedBytes passed) {
    this.pipe = pipe;
    this.from = from;
    this.outlet = outlet;
    this.passed = passed;
  }

  /**
   * Until the last writer has closed.
   *
   * @return false when it was closed or interrupted before that
   */
  boolean run() throws InterruptedException {
    ByteBuffer buffer = ByteBuffer.allocateDirect(READ_BYTES);
    try {
      while (pipe.channel().read(buffer.clear()) >= 0) {
        buffer.flip();
        passed.went(buffer.remaining());
        outlet.dataAtOnce(from, buffer);
        if (buffer.hasRemaining()) {
          outlet.data(from, copy(buffer), this::consumed);
          awaitRoom();
        }
      }
      return true;
    } catch (IOException closed) {
      return false;
    } finally {
      pipe.close();
    }
  }

  private ByteBuffer copy(ByteBuffer buffer) {
    int count = buffer.remaining();
    lock.lock();
    try {
      waiting += count;
    } finally {
      lock.unlock();
    }
    return ByteBuffer.allocate(count).put(buffer).flip();
  }

  /** What the client has not taken waits here, and the program behind the full pipe. */
  private void awaitRoom() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (waiting > READ_BYTES && pipe.channel().isOpen()) {
        changed.await();
      }
    } finally {
      lock.unlock();
    }
  }

  private void consumed(int count) {
    lock.lock();
    try {
      waiting -= count;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** The client is gone: the program gets SIGPIPE when it writes. */
  void close() {
    pipe.close();
    lock.lock();
    try {
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
