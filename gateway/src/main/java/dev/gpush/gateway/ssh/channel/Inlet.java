package dev.gpush.gateway.ssh.channel;

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
 * From the client to the node: takes what SSHD received, gives it to the link as far as the link
 * has room, and gives the client new window only for what the link has taken. What waits here is
 * therefore never more than the window that was granted.
 *
 * <p>One thread at a time moves bytes ({@code moving}); others leave theirs in the queue for it.
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
  private boolean closeSent;
  private boolean dropping;

  Inlet(AbstractChannel channel) {
    this.channel = channel;
  }

  /** From now on there is somewhere to go. */
  void attach(LinkStream opened) {
    change(() -> stream = Optional.of(opened));
  }

  /** Copies: SSHD uses its buffer again, and the link may have to send the bytes twice. */
  void data(byte[] source, int offset, int length) {
    ByteBuffer copy = ByteBuffer.wrap(Arrays.copyOfRange(source, offset, offset + length));
    change(() -> waiting.add(copy));
  }

  /** The client sends nothing more. */
  void end() {
    change(() -> ended = true);
  }

  /**
   * The client is gone. As with sshd, what it sent before still reaches the node, however long that
   * takes.
   */
  void close() {
    change(() -> closed = true);
  }

  /** The client is gone, and what waits is of no use any more: a terminal is hung up at once. */
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

  /** Does one thing; false when nothing can be done now, and then others may move. */
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

  /** What is done without the lock; true when there may be more to do. */
  @FunctionalInterface
  private interface Step {
    boolean run();
  }

  private Optional<Step> next(LinkStream to) {
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

  private static boolean close(LinkStream to) {
    to.close(Json.object());
    return true;
  }
}
