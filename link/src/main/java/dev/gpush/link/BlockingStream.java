package dev.gpush.link;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.link.frame.FrameLimits;
import dev.gpush.link.machine.LinkMachine;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A stream for code that may block: {@link InputStream}s, an {@link OutputStream}, and waiting for
 * answers. Thread-safe.
 *
 * <p>Both channels share the stream's credit: a caller that reads only one of them calls {@link
 * #discard} for the other, or the agent stops when the unread one has filled the window.
 */
public final class BlockingStream implements AutoCloseable {
  /** Messages that were not read yet; a peer that sends more has no reader. */
  private static final int MAX_MESSAGES = 1_024;

  /**
   * The characters of these messages together; as values they may take twenty times as much memory.
   */
  private static final int MAX_MESSAGE_CHARACTERS = 256 << 10;

  private final int node;
  private final String what;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // guarded by lock
  private final List<Channel> channels = List.of(new Channel(), new Channel());
  private final ArrayDeque<Json.Obj> messages = new ArrayDeque<>();
  private int messageCharacters;
  private Optional<LinkStream> attached = Optional.empty();
  private Optional<Json.Obj> opened = Optional.empty();
  private Optional<Json.Obj> closed = Optional.empty();
  private boolean isAbandoned;

  /** What was received on one channel and not read yet; bounded by the stream's window. */
  private static final class Channel {
    private final Pieces pieces = new Pieces();
    private boolean ended;
    private boolean discarded;
  }

  BlockingStream(int node, String what) {
    this.node = node;
    this.what = what;
  }

  /** The receiver that fills this stream. */
  public StreamReceiver receiver() {
    return new Receiver(stream());
  }

  StreamReceiver receiver(LinkStream stream) {
    attach(stream);
    return receiver();
  }

  void attach(LinkStream stream) {
    lock.lock();
    try {
      attached = Optional.of(stream);
    } finally {
      lock.unlock();
    }
  }

  /** The underlying stream: for messages, and for sending without blocking. */
  public LinkStream stream() {
    lock.lock();
    try {
      return attached.orElseThrow();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for the agent's answer to OPEN.
   *
   * @throws GpushException with {@link AgentFailure.Refused} or {@link AgentFailure.LinkOver}
   */
  public Json.Obj awaitOpened() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (opened.isEmpty() && closed.isEmpty()) {
        changed.await();
      }
      return opened.orElseThrow(() -> failure(closed.orElseThrow()));
    } finally {
      lock.unlock();
    }
  }

  /** The next message; empty when the stream ended without one more. */
  public Optional<Json.Obj> awaitMessage() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (messages.isEmpty() && closed.isEmpty()) {
        changed.await();
      }
      Optional<Json.Obj> next = Optional.ofNullable(messages.poll());
      next.ifPresent(message -> messageCharacters -= message.write().length());
      return next;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for the end of the stream and says why: {@code {exit}}, {@code {signal, core}}, {@code
   * {code, facts}} or {@code {}}.
   */
  public Json.Obj awaitClose() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (closed.isEmpty()) {
        changed.await();
      }
      return closed.orElseThrow();
    } finally {
      lock.unlock();
    }
  }

  /**
   * What the agent sends on this channel (0 main, 1 stderr). Ends with the channel; a stream that
   * broke throws.
   */
  public InputStream output(int channel) {
    return new ChannelInput(channels.get(channel));
  }

  /** What goes to the agent on channel 0; closing it is end of file. */
  public OutputStream input() {
    return new ChannelOutput(stream());
  }

  /** Drops what arrives on this channel. */
  public void discard(int channel) {
    int dropped;
    lock.lock();
    try {
      Channel from = channels.get(channel);
      from.discarded = true;
      dropped = from.pieces.size();
      from.pieces.clear();
    } finally {
      lock.unlock();
    }
    stream().consumed(dropped);
  }

  /** Closes our side; what was not read yet is lost, and a reader gets the failure at once. */
  @Override
  public void close() {
    stream().close(Json.object());
    lock.lock();
    try {
      isAbandoned = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** The failure that the reason of a close means. */
  public GpushException failure(Json.Obj reason) {
    return failure(node, what, reason);
  }

  static GpushException failure(int node, String what, Json.Obj reason) {
    String code = reason.text("code").orElse("closed");
    return new GpushException(
        switch (code) {
          case LinkMachine.LINK_OVER ->
              new AgentFailure.LinkOver(node, reason.object("facts").text("reason").orElse(code));
          case LinkMachine.AGENT_RESTARTED ->
              new AgentFailure.LinkOver(node, "its agent was replaced by another one");
          default -> new AgentFailure.Refused(what, code, reason.object("facts"));
        });
  }

  private final class Receiver implements StreamReceiver {
    private final LinkStream stream;

    Receiver(LinkStream stream) {
      this.stream = stream;
    }

    @Override
    public void opened(Json.Obj facts) {
      change(() -> opened = Optional.of(facts));
    }

    @Override
    public void data(int channel, ByteBuffer bytes) {
      int size = bytes.remaining();
      lock.lock();
      try {
        Channel to = channels.get(channel);
        if (!to.discarded && size > 0) {
          to.pieces.add(bytes);
          changed.signalAll();
          return;
        }
      } finally {
        lock.unlock();
      }
      stream.consumed(size);
    }

    @Override
    public void end(int channel) {
      change(() -> channels.get(channel).ended = true);
    }

    @Override
    public void message(Json.Obj message) {
      int characters = message.write().length();
      boolean tooMany;
      lock.lock();
      try {
        tooMany =
            messages.size() >= MAX_MESSAGES
                || messageCharacters + characters > MAX_MESSAGE_CHARACTERS;
        if (!tooMany) {
          messages.add(message);
          messageCharacters += characters;
          changed.signalAll();
        }
      } finally {
        lock.unlock();
      }
      if (tooMany) {
        stream.close(Json.object("code", "limit", "facts", Json.object("messages", MAX_MESSAGES)));
      }
    }

    @Override
    public void closed(Json.Obj reason) {
      change(() -> closed = Optional.of(reason));
    }

    private void change(Runnable change) {
      lock.lock();
      try {
        change.run();
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  private final class ChannelInput extends InputStream {
    private final Channel from;

    ChannelInput(Channel from) {
      this.from = from;
    }

    @Override
    public int read() throws IOException {
      var one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      Objects.checkFromIndexSize(offset, length, target.length);
      if (length == 0) {
        return 0;
      }
      int count;
      try {
        lock.lockInterruptibly();
        try {
          while (from.pieces.isEmpty()) {
            if (from.ended || closed.isPresent()) {
              return end();
            }
            if (isAbandoned) {
              throw new StreamClosedException("closed by its reader");
            }
            changed.await();
          }
          count = from.pieces.read(target, offset, length);
        } finally {
          lock.unlock();
        }
      } catch (InterruptedException stop) {
        throw interrupted();
      }
      stream().consumed(count);
      return count;
    }

    private int end() throws IOException {
      Optional<String> code = closed.flatMap(reason -> reason.text("code"));
      if (!from.ended && code.isPresent()) {
        throw new StreamClosedException(code.orElseThrow());
      }
      return -1;
    }

    @Override
    public int available() {
      lock.lock();
      try {
        return from.pieces.size();
      } finally {
        lock.unlock();
      }
    }
  }

  private static final class ChannelOutput extends OutputStream {
    private final LinkStream stream;

    ChannelOutput(LinkStream stream) {
      this.stream = stream;
    }

    @Override
    public void write(int value) throws IOException {
      write(new byte[] {(byte) value}, 0, 1);
    }

    /** Copies piece by piece, because the caller may reuse its array. */
    @Override
    public void write(byte[] source, int offset, int length) throws IOException {
      Objects.checkFromIndexSize(offset, length, source.length);
      try {
        for (int done = 0; done < length; ) {
          var piece = new byte[Math.min(length - done, FrameLimits.PIECE)];
          System.arraycopy(source, offset + done, piece, 0, piece.length);
          stream.send(0, ByteBuffer.wrap(piece));
          done += piece.length;
        }
      } catch (InterruptedException stop) {
        throw interrupted();
      }
    }

    @Override
    public void close() {
      stream.end(0);
    }
  }

  private static InterruptedIOException interrupted() {
    Thread.currentThread().interrupt();
    return new InterruptedIOException("interrupted");
  }
}
