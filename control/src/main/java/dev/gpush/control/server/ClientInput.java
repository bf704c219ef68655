package dev.gpush.control.server;

import dev.gpush.control.wire.ControlProtocolException;
import dev.gpush.control.wire.Kind;
import dev.gpush.control.wire.Payload;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The client's standard input, requested only when the handler reads. */
final class ClientInput extends InputStream {
  /** How much may be on its way or unread. */
  private static final int WINDOW = 256 * 1024;

  private final Outbox outbox;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<byte[]> chunks = new ArrayDeque<>();
  private int position;
  private int buffered;
  private int wanted;
  private boolean ended;
  private boolean gone;

  ClientInput(Outbox outbox) {
    this.outbox = outbox;
  }

  /** Takes what the client sent. */
  void receive(byte[] bytes) throws ControlProtocolException {
    lock.lock();
    try {
      if (ended || bytes.length > wanted) {
        throw new ControlProtocolException("input that was not wanted");
      }
      wanted -= bytes.length;
      if (bytes.length > 0) {
        buffered += bytes.length;
        chunks.add(bytes);
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  void end() {
    lock.lock();
    try {
      ended = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** The client is gone, which is not the end of its input. */
  void breakOff() {
    lock.lock();
    try {
      gone = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    int more = askFor();
    if (more > 0) {
      outbox.put(new Payload().number(more).frame(Kind.WANT));
    }
    lock.lock();
    try {
      while (chunks.isEmpty() && !ended && !gone) {
        changed.await();
      }
      byte[] chunk = chunks.peek();
      if (chunk == null) {
        if (gone) {
          throw new IOException("the client is gone");
        }
        return -1;
      }
      int count = Math.min(length, chunk.length - position);
      System.arraycopy(chunk, position, target, offset, count);
      position += count;
      buffered -= count;
      if (position == chunk.length) {
        chunks.remove();
        position = 0;
      }
      return count;
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException("told to stop while reading").initCause(stop);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public int available() {
    lock.lock();
    try {
      return buffered;
    } finally {
      lock.unlock();
    }
  }

  /**
   * How much more to request now: nothing until half of the window is free, so that few frames are
   * needed.
   */
  private int askFor() {
    lock.lock();
    try {
      if (ended || gone || wanted + buffered > WINDOW / 2) {
        return 0;
      }
      int more = WINDOW - wanted - buffered;
      wanted += more;
      return more;
    } finally {
      lock.unlock();
    }
  }
}
