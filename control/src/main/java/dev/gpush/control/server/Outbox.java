package dev.gpush.control.server;

import dev.gpush.control.wire.ControlFrame;
import dev.gpush.control.wire.ControlFrameWriter;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Frames that wait to be sent to the client. Handlers add them, one thread writes: the JDK closes a
 * channel whose writer is interrupted, so handlers, which may be interrupted, must not write.
 */
final class Outbox {
  /** How far a handler may be ahead of its client. */
  private static final int LIMIT_BYTES = 256 * 1024;

  private final ControlFrameWriter writer;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<ControlFrame> frames = new ArrayDeque<>();
  private long bytes;
  private boolean finished;
  private boolean over;
  private boolean broken;

  Outbox(ControlFrameWriter writer) {
    this.writer = writer;
  }

  /** Waits for room; fails once the client is gone or the last frame is in. */
  void put(ControlFrame frame) throws IOException {
    lock.lock();
    try {
      while (bytes >= LIMIT_BYTES && !broken && !finished) {
        changed.await();
      }
      add(frame);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException("told to stop while writing").initCause(stop);
    } finally {
      lock.unlock();
    }
  }

  /** Puts the last frame, room or not. */
  void finish(ControlFrame last) throws IOException {
    lock.lock();
    try {
      add(last);
      finished = true;
    } finally {
      lock.unlock();
    }
  }

  /** The last frame is being written, or was: the client may have it already. */
  boolean isOver() {
    lock.lock();
    try {
      return over;
    } finally {
      lock.unlock();
    }
  }

  /** The client is gone: wakes all who wait. */
  void close() {
    lock.lock();
    try {
      broken = true;
      frames.clear();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Writes until the last frame is out or the client is gone. */
  void pump() throws IOException, InterruptedException {
    try {
      while (true) {
        ControlFrame next = take();
        if (next == null) {
          return;
        }
        writer.write(next);
        written(next);
      }
    } finally {
      close();
    }
  }

  private void add(ControlFrame frame) throws IOException {
    if (broken || finished) {
      throw new IOException("the client is gone");
    }
    frames.add(frame);
    bytes += frame.payload().length;
    changed.signalAll();
  }

  private @Nullable ControlFrame take() throws InterruptedException {
    lock.lock();
    try {
      while (frames.isEmpty()) {
        if (broken || finished) {
          return null;
        }
        changed.await();
      }
      ControlFrame next = frames.poll();
      over = finished && frames.isEmpty();
      return next;
    } finally {
      lock.unlock();
    }
  }

  private void written(ControlFrame frame) {
    lock.lock();
    try {
      bytes -= frame.payload().length;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
