package dev.gpush.link;

import dev.gpush.core.json.Json;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.locks.Condition;

/**
 * One stream of a link. Thread-safe; nothing here blocks but {@link #send}.
 *
 * <p>Buffers given to {@link #send} and {@link #trySend} are not copied: their bytes must not
 * change any more, because they may be sent a second time on the next pipe. What is sent goes out
 * in order; it waits through a cut link and is bounded by the peer's credit.
 */
public final class LinkStream {
  private final Link link;
  private final int number;
  private final Condition changed;

  // guarded by the link's lock, as are the fields of Flow
  private final Flow flow;
  private final ArrayDeque<Frame> waiting = new ArrayDeque<>();
  private Optional<StreamReceiver> receiver = Optional.empty();
  private Optional<Runnable> writable = Optional.empty();
  private boolean opening = true;
  private boolean openWritten;
  private boolean isReady;
  private int smallWaiting;
  private int endedChannels;
  private boolean ownClose;
  private boolean ownCloseWritten;
  private boolean peerClose;

  LinkStream(Link link, int number, Flow flow) {
    this.link = link;
    this.number = number;
    this.flow = flow;
    this.changed = link.newCondition();
  }

  /** The stream's number on this link; for logs and for matching {@code listener}. */
  public int number() {
    return number;
  }

  /** The number of the node at the other end. */
  public int node() {
    return link.node();
  }

  /**
   * Sends all of it; blocks while credit is gone.
   *
   * @throws StreamClosedException when the stream is closed by either side before all was taken
   */
  public void send(int channel, ByteBuffer bytes) throws IOException, InterruptedException {
    while (bytes.hasRemaining()) {
      link.lockInterruptibly();
      try {
        while (!requireSending(channel) || link.room(this) <= 0) {
          changed.await();
        }
        enqueue(channel, bytes);
      } finally {
        link.unlock();
      }
    }
  }

  /**
   * Takes as many bytes as credit allows, possibly none, moves the buffer's position past them and
   * returns their number.
   */
  public int trySend(int channel, ByteBuffer bytes) throws StreamClosedException {
    link.lock();
    try {
      int before = bytes.position();
      while (requireSending(channel) && bytes.hasRemaining() && link.room(this) > 0) {
        enqueue(channel, bytes);
      }
      return bytes.position() - before;
    } finally {
      link.unlock();
    }
  }

  /**
   * Runs this once, as soon as {@link #trySend} would take something or would throw; at once if
   * that is now. It runs on the caller's or the link's reading thread and must not block. One waits
   * at a time; a later one replaces it.
   */
  public void onWritable(Runnable action) {
    link.lock();
    try {
      if (!isWritable()) {
        writable = Optional.of(action);
        return;
      }
    } finally {
      link.unlock();
    }
    action.run();
  }

  /**
   * Sends a message; an urgent one may overtake data. Does not block.
   *
   * @throws StreamClosedException also when more messages wait than a peer that reads would leave
   */
  public void message(Json.Obj message, boolean urgent) throws StreamClosedException {
    Frame frame = Frame.ofJson(FrameKind.MESSAGE, urgent ? 1 : 0, number, message);
    if (frame.length() > Limits.MAX_MESSAGE) {
      throw new IllegalArgumentException("message of " + frame.length() + " bytes");
    }
    link.lock();
    try {
      requireOpen();
      if (flow.waitingMessages() >= Limits.MAX_WAITING_MESSAGES) {
        throw new StreamClosedException("too many messages wait");
      }
      flow.messageWaits(1);
      link.enqueue(this, frame);
    } finally {
      link.unlock();
    }
  }

  /**
   * Nothing more will be sent on this channel. Idempotent; silent when the stream is closed
   * already.
   */
  public void end(int channel) {
    link.lock();
    try {
      if (ownClose || hasEnded(channel)) {
        return;
      }
      endedChannels |= 1 << channel;
      link.enqueue(this, new Frame(FrameKind.END, channel, number, 0, ByteBuffer.allocate(0)));
    } finally {
      link.unlock();
    }
  }

  /**
   * Sends nothing more after what was sent already, and wants to hear nothing more but {@link
   * StreamReceiver#closed}. Idempotent.
   *
   * @param reason {@code {}} or {@code {code, facts}}
   */
  public void close(Json.Obj reason) {
    link.lock();
    try {
      if (ownClose) {
        return;
      }
      ownClose = true;
      Frame close = Frame.ofJson(FrameKind.CLOSE, 0, number, reason);
      if (peerClose) {
        link.enqueueLater(this, close);
      } else {
        link.enqueue(this, close);
      }
      changed.signalAll();
    } finally {
      link.unlock();
    }
    runWritable();
  }

  /** This many received bytes are dealt with: the peer may send as many more. */
  public void consumed(int bytes) {
    link.lock();
    try {
      if (flow.consume(bytes) && !ownClose && !peerClose) {
        link.creditIsDue(this);
      }
    } finally {
      link.unlock();
    }
  }

  /** Whether {@link #trySend} would take something or throw. */
  private boolean isWritable() {
    return ownClose || peerClose || (!opening && link.room(this) > 0);
  }

  private boolean hasEnded(int channel) {
    return (endedChannels & 1 << channel) != 0;
  }

  /** True when data may be sent as far as credit goes; false while the peer has not accepted. */
  private boolean requireSending(int channel) throws StreamClosedException {
    requireOpen();
    if (hasEnded(channel)) {
      throw new StreamClosedException("channel " + channel + " has ended");
    }
    return !opening;
  }

  private void requireOpen() throws StreamClosedException {
    if (ownClose || peerClose) {
      throw new StreamClosedException("stream is closed");
    }
  }

  private void enqueue(int channel, ByteBuffer bytes) {
    int count = Math.min(Math.min(bytes.remaining(), link.room(this)), Limits.PIECE);
    ByteBuffer piece = bytes.slice(bytes.position(), count);
    bytes.position(bytes.position() + count);
    flow.send(count);
    link.enqueue(this, new Frame(FrameKind.DATA, channel, number, 0, piece));
  }

  // ---- for the link, which holds the lock unless said otherwise

  Flow flow() {
    return flow;
  }

  ArrayDeque<Frame> waiting() {
    return waiting;
  }

  /** Set before the first frame of the stream is looked at. */
  void receiver(StreamReceiver made) {
    receiver = Optional.of(made);
  }

  StreamReceiver receiver() {
    return receiver.orElseThrow(
        () -> new IllegalStateException("stream " + number + " has no receiver"));
  }

  boolean hasReceiver() {
    return receiver.isPresent();
  }

  boolean isOpening() {
    return opening;
  }

  void opened() {
    opening = false;
  }

  boolean isOpenWritten() {
    return openWritten;
  }

  void openIsWritten() {
    openWritten = true;
  }

  boolean isReady() {
    return isReady;
  }

  void isReady(boolean ready) {
    isReady = ready;
  }

  int smallWaiting() {
    return smallWaiting;
  }

  void smallWaits(int more) {
    smallWaiting += more;
  }

  boolean isOwnClosed() {
    return ownClose;
  }

  void closeIsWritten() {
    ownCloseWritten = true;
  }

  boolean isOwnCloseWritten() {
    return ownCloseWritten;
  }

  boolean isPeerClosed() {
    return peerClose;
  }

  /** The peer closed or refused, or nothing can come any more: true the first time. */
  boolean peerCloses() {
    boolean first = !peerClose;
    peerClose = true;
    changed.signalAll();
    return first;
  }

  /** The peer has closed: our CLOSE follows what was queued before. */
  void answerClose() {
    if (!ownClose) {
      ownClose = true;
      link.enqueueLater(this, Frame.ofJson(FrameKind.CLOSE, 0, number, Json.object()));
    }
  }

  void signal() {
    changed.signalAll();
  }

  /** Called without the lock: runs a waiting {@link #onWritable} action if its time has come. */
  void runWritable() {
    Optional<Runnable> action;
    link.lock();
    try {
      if (writable.isEmpty() || !isWritable()) {
        return;
      }
      action = writable;
      writable = Optional.empty();
    } finally {
      link.unlock();
    }
    action.ifPresent(Runnable::run);
  }
}
