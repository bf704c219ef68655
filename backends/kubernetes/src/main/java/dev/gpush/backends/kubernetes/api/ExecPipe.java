package dev.gpush.backends.kubernetes.api;

import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.core.machine.Pipe;
import io.fabric8.kubernetes.client.http.WebSocket;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A command in a container: its streams are channels of one WebSocket, each message starts with the
 * number of its channel.
 *
 * <p>The library's own exec was considered: it speaks only version 4 of the protocol, which has no
 * end of input, and adds pipes with threads. Only its WebSocket is used; its thread only stores
 * messages here. When the reader does not read, no further message is requested, and the command
 * waits, as at any full pipe.
 *
 * <p>A command whose WebSocket is gone gets the end of its input; nothing else ends it. Commands
 * here are relays and questions, and both end then.
 */
final class ExecPipe implements Pipe, WebSocket.Listener {
  private static final int INPUT = 0;
  private static final int OUTPUT = 1;
  private static final int ERRORS = 2;
  private static final int STATUS = 3;
  private static final int END = 255;

  /** The size of one message, as kubectl sends it. */
  private static final int PIECE = 32 * 1024;

  /** The most bytes that wait in the socket, so that later messages need not wait long. */
  private static final int MOST_WAITING = 256 * 1024;

  /** The most unread bytes; one more message may come. */
  private static final int MOST_UNREAD = 512 * 1024;

  /** How often to check for room, because the library does not report it. */
  private static final Duration LOOK = Duration.ofMillis(1);

  /** The largest status message. */
  private static final int MOST_STATUS = 64 * 1024;

  private static final int BROKEN = 255;

  private final Received output = new Received();
  private final Received errors = new Received();
  private final Given input = new Given();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // guarded by lock
  private Optional<WebSocket> socket = Optional.empty();
  private int unread;
  private boolean waitsForRoom;
  private boolean isOver;
  private boolean inputEnded;
  private Optional<Integer> status = Optional.empty();

  /** The WebSocket is open, or could not be opened. */
  void begin(Optional<WebSocket> opened) {
    boolean isLate;
    lock.lock();
    try {
      isLate = isOver;
      socket = opened;
      isOver = isOver || opened.isEmpty();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    if (isLate) {
      opened.ifPresent(ExecPipe::close);
    }
  }

  private static void close(WebSocket socket) {
    socket.sendClose(1000, "");
  }

  // ---- called by the library

  @Override
  public void onMessage(WebSocket from, ByteBuffer message) {
    boolean isWanted = true;
    lock.lock();
    try {
      if (message.hasRemaining()) {
        isWanted = accept(Byte.toUnsignedInt(message.get()), message);
      }
    } finally {
      lock.unlock();
    }
    if (isWanted) {
      from.request();
    }
  }

  /** Takes a message; whether there is room for more. The lock is held. */
  private boolean accept(int channel, ByteBuffer message) {
    var bytes = new byte[message.remaining()];
    message.get(bytes);
    switch (channel) {
      case OUTPUT -> output.add(bytes);
      case ERRORS -> errors.add(bytes);
      case STATUS -> status = Optional.of(status(bytes));
      default -> {
        // The server has closed a channel; only the end of the socket matters.
      }
    }
    waitsForRoom = unread > MOST_UNREAD && !isOver;
    changed.signalAll();
    return !waitsForRoom;
  }

  private static int status(byte[] bytes) {
    Json json;
    try {
      json =
          Json.parse(
              new String(bytes, 0, Math.min(bytes.length, MOST_STATUS), StandardCharsets.UTF_8));
    } catch (JsonSyntaxException noise) {
      return BROKEN;
    }
    if (json.text("status").orElse("").equals("Success")) {
      return 0;
    }
    return json.object("details").items("causes").stream()
        .filter(cause -> cause.text("reason").orElse("").equals("ExitCode"))
        .flatMap(cause -> cause.text("message").stream())
        .filter(code -> code.matches("[0-9]{1,3}"))
        .map(Integer::valueOf)
        .findFirst()
        .orElse(BROKEN);
  }

  @Override
  public void onMessage(WebSocket from, String text) {
    from.request();
  }

  @Override
  public void onClose(WebSocket from, int code, String reason) {
    end();
    close(from);
  }

  @Override
  public void onError(WebSocket from, Throwable error) {
    end();
  }

  private void end() {
    lock.lock();
    try {
      isOver = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  // ---- the pipe

  @Override
  public OutputStream input() {
    return input;
  }

  @Override
  public boolean offer(ByteBuffer bytes) throws IOException {
    lock.lock();
    try {
      if (bytes.remaining() > PIECE || socket.isEmpty() || socket.get().queueSize() > 0) {
        return false;
      }
      requireOpen();
      send(socket.get(), bytes);
      return true;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public InputStream output() {
    return output;
  }

  @Override
  public InputStream errors() {
    return errors;
  }

  @Override
  public int await() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!isOver) {
        changed.await();
      }
      return status.orElse(BROKEN);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    Optional<WebSocket> open;
    lock.lock();
    try {
      open = isOver ? Optional.empty() : socket;
      isOver = true;
      inputEnded = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    open.ifPresent(
        there -> {
          close(there);
          // The answer to the close is behind messages that are no longer read.
          there.request();
        });
  }

  /** The lock is held. */
  private void requireOpen() throws IOException {
    if (isOver || inputEnded) {
      throw new IOException(isOver ? "the command has ended" : "closed");
    }
  }

  private static void send(WebSocket socket, ByteBuffer bytes) throws IOException {
    var message = ByteBuffer.allocate(bytes.remaining() + 1);
    message.put((byte) INPUT).put(bytes).flip();
    if (!socket.send(message)) {
      throw new IOException("the connection to the pod broke");
    }
  }

  /** The command's input. */
  private final class Given extends OutputStream {
    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      Objects.checkFromIndexSize(offset, length, bytes.length);
      for (int at = 0; at < length; at += PIECE) {
        writePiece(ByteBuffer.wrap(bytes, offset + at, Math.min(PIECE, length - at)));
      }
    }

    private void writePiece(ByteBuffer piece) throws IOException {
      try {
        lock.lockInterruptibly();
        try {
          requireOpen();
          while (socket.isEmpty() || socket.get().queueSize() > MOST_WAITING) {
            changed.await(LOOK.toNanos(), TimeUnit.NANOSECONDS);
            requireOpen();
          }
          send(socket.get(), piece);
        } finally {
          lock.unlock();
        }
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted");
      }
    }

    @Override
    public void close() {
      lock.lock();
      try {
        if (!inputEnded && !isOver) {
          socket.ifPresent(
              open -> open.send(ByteBuffer.wrap(new byte[] {(byte) END, (byte) INPUT})));
        }
        inputEnded = true;
      } finally {
        lock.unlock();
      }
    }
  }

  /** The command's output. */
  private final class Received extends InputStream {
    // guarded by lock
    private final ArrayDeque<byte[]> pieces = new ArrayDeque<>();
    private int taken; // of the first piece

    void add(byte[] bytes) {
      if (bytes.length > 0) {
        pieces.add(bytes);
        unread += bytes.length;
      }
    }

    @Override
    public int read() throws IOException {
      var one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      Objects.checkFromIndexSize(offset, length, target.length);
      Optional<WebSocket> more = Optional.empty();
      int count;
      try {
        lock.lockInterruptibly();
        try {
          while (pieces.isEmpty() && !isOver) {
            changed.await();
          }
          count = take(target, offset, length);
          if (waitsForRoom && unread <= MOST_UNREAD) {
            waitsForRoom = false;
            more = socket;
          }
        } finally {
          lock.unlock();
        }
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted");
      }
      more.ifPresent(WebSocket::request);
      return count;
    }

    private int take(byte[] target, int offset, int length) {
      int count = 0;
      while (count < length && !pieces.isEmpty()) {
        byte[] first = pieces.getFirst();
        int part = Math.min(length - count, first.length - taken);
        System.arraycopy(first, taken, target, offset + count, part);
        count += part;
        taken += part;
        if (taken == first.length) {
          pieces.removeFirst();
          taken = 0;
        }
      }
      unread -= count;
      return count == 0 && length > 0 ? -1 : count;
    }

    @Override
    public int available() {
      lock.lock();
      try {
        return pieces.isEmpty() ? 0 : pieces.getFirst().length - taken;
      } finally {
        lock.unlock();
      }
    }
  }
}
