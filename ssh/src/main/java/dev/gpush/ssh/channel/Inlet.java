package dev.gpush.ssh.channel;

import dev.gpush.core.json.Json;
import dev.gpush.link.LinkStream;
import dev.gpush.link.StreamClosedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.sshd.common.channel.AbstractChannel;

/**
 * From the client to the node: takes bytes from SSHD, passes them to the link as far as the link
 * has room, and grants the client new window only for bytes that the link has taken. So at most the
 * granted window waits here.
 *
 * <p>One thread at a time moves bytes ({@code moving}); other threads leave theirs in the queue.
 * Nothing blocks.
 */
final class Inlet {
  private static final int MAIN = 0;

  private final AbstractChannel channel;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock: all that follows
  private final ArrayDeque<ByteBuffer> waiting = new ArrayDeque<>();
  private Optional<LinkStream> stream = Optional.empty();
  private boolean moving;
  private boolean ended;
  private boolean endSent;
  private boolean closed;
  private boolean withdrawn;
  private boolean closeSent;
  private boolean dropping;

  Inlet(AbstractChannel channel) {
    this.channel = channel;
  }

  /** From now on bytes can be sent, as soon as the node has accepted the stream. */
  void attach(LinkStream asked) {
    change(() -> stream = Optional.of(asked));
  }

  /** Copies them: SSHD reuses its buffer, and the link may have to send bytes a second time. */
  void data(byte[] source, int offset, int length) {
    ByteBuffer copy = ByteBuffer.wrap(Arrays.copyOfRange(source, offset, offset + length));
    change(() -> waiting.add(copy));
  }

  /** The client sends nothing more. */
  void end() {
    change(() -> ended = true);
  }

  /**
   * The client is gone. As with sshd, bytes that it sent before still reach the node, however long
   * that takes; but what the node has not heard of, as while its link is cut, it never will.
   */
  void close() {
    change(() -> closed = true);
  }

  /** The client is gone, and waiting bytes are dropped: a terminal is hung up at once. */
  void abort() {
    change(
        () -> {
          closed = true;
          dropping = true;
        });
  }

  private void change(Runnable change) {
    lock.lock();
    try {
      change.run();
    } finally {
      lock.unlock();
    }
    move();
  }

  private void move() {
    lock.lock();
    try {
      if (moving) {
        return;
      }
      moving = true;
    } finally {
      lock.unlock();
    }
    boolean more = true;
    while (more) {
      more = step();
    }
  }

  /** Does one step; false when nothing can be done now, and then another thread may continue. */
  private boolean step() {
    Optional<Step> step;
    lock.lock();
    try {
      step = stream.flatMap(this::next);
      moving = step.isPresent();
    } finally {
      lock.unlock();
    }
    return step.isPresent() && step.orElseThrow().run();
  }

  /** A step that is done without the lock; true when there may be more to do. */
  @FunctionalInterface
  private interface Step {
    boolean run();
  }

  private Optional<Step> next(LinkStream to) {
    if (closed && !withdrawn) {
      withdrawn = true;
      return Optional.of(() -> withdraw(to));
    }
    if (!waiting.isEmpty() && dropping) {
      long dropped = waiting.stream().mapToLong(ByteBuffer::remaining).sum();
      waiting.clear();
      return Optional.of(() -> grant(dropped));
    }
    if (!waiting.isEmpty()) {
      ByteBuffer piece = waiting.element();
      return Optional.of(() -> send(to, piece));
    }
    if (ended && !endSent) {
      endSent = true;
      return Optional.of(() -> end(to));
    }
    if (closed && !closeSent) {
      closeSent = true;
      return Optional.of(() -> close(to));
    }
    return Optional.empty();
  }

  private boolean send(LinkStream to, ByteBuffer piece) {
    int taken;
    boolean isClosed = false;
    try {
      taken = to.trySend(MAIN, piece);
    } catch (StreamClosedException over) {
      taken = 0;
      isClosed = true;
    }
    grant(taken);
    boolean isFull = taken == 0 && !isClosed;
    lock.lock();
    try {
      dropping |= isClosed;
      if (!piece.hasRemaining()) {
        waiting.remove();
      }
      moving = !isFull;
    } finally {
      lock.unlock();
    }
    if (isFull) {
      to.onWritable(this::move);
    }
    return !isFull;
  }

  private boolean grant(long bytes) {
    try {
      channel.getLocalWindow().release(bytes);
    } catch (IOException closing) {
      // The client is gone: it needs no window.
    }
    return true;
  }

  private static boolean end(LinkStream to) {
    to.end(MAIN);
    return true;
  }

  private static boolean withdraw(LinkStream to) {
    to.withdraw();
    return true;
  }

  private static boolean close(LinkStream to) {
    to.close(Json.object());
    return true;
  }
}
