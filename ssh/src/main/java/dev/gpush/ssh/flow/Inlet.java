package dev.gpush.ssh.flow;

import dev.gpush.link.LinkStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
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
public final class Inlet {
  private final AbstractChannel channel;
  private final ReentrantLock lock = new ReentrantLock();
  private final AtomicLong received = new AtomicLong();

  // guarded by lock: all that follows
  private final ArrayDeque<ByteBuffer> waiting = new ArrayDeque<>();
  private Optional<NodeInput> stream = Optional.empty();
  private Optional<Step> redirection = Optional.empty();
  private boolean moving;
  private boolean ended;
  private boolean endSent;
  private boolean closed;
  private boolean closeSent;
  private boolean dropping;

  public Inlet(AbstractChannel channel) {
    this.channel = channel;
  }

  /** From now on bytes can be sent. */
  public void attach(LinkStream opened) {
    attach(NodeInput.of(opened));
  }

  /** As {@link #attach(LinkStream)}. */
  public void attach(NodeInput opened) {
    change(() -> stream = Optional.of(opened));
  }

  /**
   * What comes from now on, and what waits, goes elsewhere.
   *
   * @param before called when the last byte has gone where they went until now
   */
  public void redirect(NodeInput next, Runnable before) {
    change(
        () ->
            redirection =
                Optional.of(
                    () -> {
                      lock.lock();
                      try {
                        stream = Optional.of(next);
                      } finally {
                        lock.unlock();
                      }
                      before.run();
                      return true;
                    }));
  }

  /** Copies what cannot go at once: SSHD reuses its buffer, and the link may send bytes twice. */
  public void data(byte[] source, int offset, int length) {
    received.addAndGet(length);
    ByteBuffer bytes = ByteBuffer.wrap(source, offset, length);
    beginAtOnce().ifPresent(to -> send(to, bytes));
    if (bytes.hasRemaining()) {
      ByteBuffer copy =
          ByteBuffer.wrap(Arrays.copyOfRange(source, bytes.position(), bytes.limit()));
      change(() -> waiting.add(copy));
    } else {
      move();
    }
  }

  /** Where bytes can go before they are copied; then this thread is the one that moves bytes. */
  private Optional<NodeInput> beginAtOnce() {
    lock.lock();
    try {
      boolean mayBegin = !moving && waiting.isEmpty() && !dropping;
      Optional<NodeInput> to = mayBegin ? stream.filter(NodeInput::hasCopied) : Optional.empty();
      moving |= to.isPresent();
      return to;
    } finally {
      lock.unlock();
    }
  }

  private void send(NodeInput to, ByteBuffer bytes) {
    int before = bytes.position();
    boolean isClosed = false;
    try {
      to.trySend(bytes);
    } catch (IOException over) {
      isClosed = true;
    }
    grant(bytes.position() - before);
    lock.lock();
    try {
      dropping |= isClosed;
      moving = false;
    } finally {
      lock.unlock();
    }
  }

  /** Bytes from the client so far. */
  public long received() {
    return received.get();
  }

  /** The client sends nothing more. */
  public void end() {
    change(() -> ended = true);
  }

  /**
   * The client is gone. As with sshd, bytes that it sent before still reach the node, however long
   * that takes.
   */
  public void close() {
    change(() -> closed = true);
  }

  /** The client is gone, and waiting bytes are dropped: a terminal is hung up at once. */
  public void abort() {
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

  private Optional<Step> next(NodeInput to) {
    if (redirection.isPresent()) {
      Optional<Step> step = redirection;
      redirection = Optional.empty();
      return step;
    }
    if (!waiting.isEmpty() && dropping) {
      long dropped = waiting.stream().mapToLong(ByteBuffer::remaining).sum();
      waiting.clear();
      return Optional.of(() -> grant(dropped));
    }
    if (!waiting.isEmpty()) {
      ByteBuffer piece = waiting.element();
      return Optional.of(() -> sendNext(to, piece));
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

  private boolean sendNext(NodeInput to, ByteBuffer piece) {
    int taken;
    boolean isClosed = false;
    try {
      taken = to.trySend(piece);
    } catch (IOException over) {
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

  private static boolean end(NodeInput to) {
    to.end();
    return true;
  }

  private static boolean close(NodeInput to) {
    to.close();
    return true;
  }
}
