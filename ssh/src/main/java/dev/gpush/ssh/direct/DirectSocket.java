package dev.gpush.ssh.direct;

import dev.gpush.ssh.flow.NodeInput;
import dev.gpush.ssh.flow.Outlet;
import dev.gpush.ssh.socket.ChannelSockets;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A socket of this machine behind a channel, without the link in between: for bytes of a node that
 * is this machine. The connection's reading thread serves it. Bytes for the client go out with the
 * call that reads them; what the client's window or socket does not take waits in the {@link
 * Outlet}, and when that is much, nothing more is read.
 */
public final class DirectSocket implements NodeInput {
  /** Waits for the client before reading stops: enough to keep its socket busy. */
  private static final int MOST_WAITING = 256 << 10;

  private final SocketChannel socket;
  private final Outlet outlet;
  private final PassedBytes passed;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private Optional<ChannelSockets.Watched> watched = Optional.empty();
  private Optional<Runnable> writable = Optional.empty();
  private Optional<Listener> listener = Optional.empty();
  private int waiting;
  private boolean hasRead;
  private boolean hasWritten;
  private boolean isClosed;

  /** Is told of the ends, each once. */
  public interface Listener {
    /** All was read: given to the outlet. */
    void hasRead();

    /** Nothing more goes in either direction; comes after {@link #hasRead}. */
    default void isOver() {}
  }

  /**
   * @param socket connected; does not block
   */
  public DirectSocket(SocketChannel socket, Outlet outlet, PassedBytes passed) {
    this.socket = socket;
    this.outlet = outlet;
    this.passed = passed;
  }

  /** Reads from now on. */
  public void start(ChannelSockets sockets, Listener told) {
    Optional<ChannelSockets.Watched> key = sockets.watch(socket, this::serve);
    lock.lock();
    try {
      watched = key;
      listener = Optional.of(told);
      waitForWhatIsNeeded();
    } finally {
      lock.unlock();
    }
    if (key.isEmpty()) {
      close();
    }
  }

  private void waitForWhatIsNeeded() {
    boolean reads = !hasRead && waiting < MOST_WAITING;
    int operations =
        (reads ? SelectionKey.OP_READ : 0) | (writable.isPresent() ? SelectionKey.OP_WRITE : 0);
    watched.ifPresent(key -> key.waitFor(operations));
  }

  // ---- on the connection's reading thread

  private void serve(ByteBuffer buffer) {
    Optional<Runnable> write;
    boolean reads;
    lock.lock();
    try {
      write = writable;
      writable = Optional.empty();
      reads = !hasRead && waiting < MOST_WAITING;
    } finally {
      lock.unlock();
    }
    write.ifPresent(Runnable::run);
    int count = reads ? read(buffer) : 0;
    if (count > 0) {
      buffer.flip();
      passed.went(count);
      outlet.dataAtOnce(0, buffer);
      keep(buffer);
    } else if (count < 0) {
      ends(true, false);
    }
    lock.lock();
    try {
      waitForWhatIsNeeded();
    } finally {
      lock.unlock();
    }
  }

  /** A peer that breaks the connection has sent all that it will. */
  private int read(ByteBuffer buffer) {
    try {
      return socket.read(buffer);
    } catch (IOException broken) {
      return -1;
    }
  }

  private void keep(ByteBuffer buffer) {
    int count = buffer.remaining();
    if (count == 0) {
      return;
    }
    lock.lock();
    try {
      waiting += count;
    } finally {
      lock.unlock();
    }
    outlet.data(0, ByteBuffer.allocate(count).put(buffer).flip(), this::consumed);
  }

  private void consumed(int count) {
    lock.lock();
    try {
      boolean wasFull = waiting >= MOST_WAITING;
      waiting -= count;
      if (wasFull && waiting < MOST_WAITING) {
        waitForWhatIsNeeded();
      }
    } finally {
      lock.unlock();
    }
  }

  private void ends(boolean reading, boolean writing) {
    Optional<Listener> told;
    boolean readsLast;
    boolean isOver;
    lock.lock();
    try {
      told = listener;
      readsLast = reading && !hasRead;
      isOver = (hasRead || reading) && (hasWritten || writing) && !(hasRead && hasWritten);
      hasRead |= reading;
      hasWritten |= writing;
    } finally {
      lock.unlock();
    }
    if (readsLast) {
      told.ifPresent(Listener::hasRead);
    }
    if (isOver) {
      told.ifPresent(Listener::isOver);
    }
  }

  // ---- for the inlet

  @Override
  public int trySend(ByteBuffer bytes) throws IOException {
    int before = bytes.position();
    int count;
    try {
      count = socket.write(bytes);
    } catch (IOException broken) {
      ends(false, true);
      throw broken;
    }
    if (count > 0) {
      passed.came(bytes.duplicate().position(before).limit(before + count));
    }
    return count;
  }

  @Override
  public void onWritable(Runnable action) {
    lock.lock();
    try {
      if (!isClosed) {
        writable = Optional.of(action);
        waitForWhatIsNeeded();
        return;
      }
    } finally {
      lock.unlock();
    }
    action.run();
  }

  @Override
  public void end() {
    try {
      socket.shutdownOutput();
    } catch (IOException gone) {
      // The peer has closed.
    }
    ends(false, true);
  }

  @Override
  public void close() {
    ends(true, true);
    Optional<ChannelSockets.Watched> key;
    lock.lock();
    try {
      isClosed = true;
      key = watched;
      watched = Optional.empty();
    } finally {
      lock.unlock();
    }
    try {
      socket.close();
    } catch (IOException gone) {
      // It is closed in any case.
    }
    key.ifPresent(ChannelSockets.Watched::end);
  }

  @Override
  public boolean hasCopied() {
    return true;
  }
}
