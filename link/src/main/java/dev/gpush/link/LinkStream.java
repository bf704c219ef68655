package dev.gpush.link;

import dev.gpush.core.json.Json;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.frame.FrameLimits;
import dev.gpush.link.machine.LinkEvent;
import dev.gpush.link.machine.LinkMachine;
import dev.gpush.link.machine.StreamState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * One stream of a link. Thread-safe; nothing here blocks but {@link #send}.
 *
 * <p>Buffers given to {@link #send} and {@link #trySend} are not copied: their bytes must not
 * change any more, because they may be sent a second time on the next pipe. What is sent goes out
 * in order; it waits through a cut link and is bounded by the peer's credit.
 */
public final class LinkStream {
  private final LinkDriver driver;
  private final ReentrantLock lock;
  private final Condition changed;

  // guarded by the driver's lock
  private final LinkMachine machine;
  private final StreamState state;
  private Optional<StreamReceiver> receiver = Optional.empty();
  private Optional<Runnable> writable = Optional.empty();

  LinkStream(LinkDriver driver, StreamState state) {
    this.driver = driver;
    this.lock = driver.lock();
    this.changed = lock.newCondition();
    this.machine = driver.machine();
    this.state = state;
  }

  /** The stream's number on this link; for logs and for matching {@code listener}. */
  public int number() {
    return state.number();
  }

  /**
   * Sends all of it; blocks while credit is gone.
   *
   * @throws StreamClosedException when the stream is closed by either side before all was taken
   */
  public void send(int channel, ByteBuffer bytes) throws IOException, InterruptedException {
    while (bytes.hasRemaining()) {
      lock.lockInterruptibly();
      try {
        requireSending(channel);
        while (machine.send(state, channel, bytes) == 0) {
          changed.await();
          requireSending(channel);
        }
        driver.workIsDue();
      } finally {
        lock.unlock();
      }
    }
  }

  /**
   * Takes as many bytes as credit allows, possibly none, moves the buffer's position past them and
   * returns their number.
   */
  public int trySend(int channel, ByteBuffer bytes) throws StreamClosedException {
    lock.lock();
    try {
      requireSending(channel);
      int before = bytes.position();
      while (machine.send(state, channel, bytes) > 0) {
        driver.workIsDue();
      }
      return bytes.position() - before;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Runs this once, as soon as {@link #trySend} would take something or would throw; at once if
   * that is now. It runs on the caller's or the link's reading thread and must not block. One waits
   * at a time; a later one replaces it.
   */
  public void onWritable(Runnable action) {
    lock.lock();
    try {
      if (!machine.isWritable(state)) {
        writable = Optional.of(action);
        return;
      }
    } finally {
      lock.unlock();
    }
    action.run();
  }

  /**
   * Sends a message with flag 1: it may overtake data. Does not block.
   *
   * @throws StreamClosedException also when so many messages wait that the peer cannot be reading
   */
  public void message(Json.Obj message) throws StreamClosedException {
    Frame frame = Frame.ofJson(FrameKind.MESSAGE, 1, number(), message);
    if (frame.length() > FrameLimits.MAX_MESSAGE) {
      throw new IllegalArgumentException("message of " + frame.length() + " bytes");
    }
    lock.lock();
    try {
      requireOpen();
      if (!machine.message(state, frame)) {
        throw new StreamClosedException("too many messages wait");
      }
      driver.workIsDue();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Nothing more will be sent on this channel. Idempotent; silent when the stream is closed
   * already.
   */
  public void end(int channel) {
    lock.lock();
    try {
      machine.end(state, channel);
      driver.workIsDue();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sends nothing more after what was sent already, and receives nothing more but {@link
   * StreamReceiver#closed}. When nothing was sent yet, the agent never hears of the stream.
   * Idempotent.
   *
   * @param reason {@code {}} or {@code {code, facts}}
   */
  public void close(Json.Obj reason) {
    ends(() -> machine.close(state, reason));
  }

  /**
   * Closes it if nothing was sent yet, as while the link is cut: then the agent never hears of it.
   * Else this does nothing.
   */
  public void withdraw() {
    ends(() -> machine.withdraw(state));
  }

  private void ends(BooleanSupplier how) {
    lock.lock();
    try {
      if (!how.getAsBoolean()) {
        return;
      }
      driver.settle();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    runWritable();
  }

  /** The user is done with this many received bytes: the peer may send as many more. */
  public void consumed(int bytes) {
    lock.lock();
    try {
      machine.consumed(state, bytes);
      driver.workIsDue();
    } finally {
      lock.unlock();
    }
  }

  private void requireSending(int channel) throws StreamClosedException {
    requireOpen();
    if (state.hasEnded(channel)) {
      throw new StreamClosedException("channel " + channel + " has ended");
    }
  }

  private void requireOpen() throws StreamClosedException {
    if (state.isClosed()) {
      throw new StreamClosedException("stream is closed");
    }
  }

  // ---- for the driver

  StreamState state() {
    return state;
  }

  /** Before the first event of the stream is delivered. */
  void receiver(StreamReceiver made) {
    assert lock.isHeldByCurrentThread();
    receiver = Optional.of(made);
  }

  StreamReceiver receiver() {
    return receiver.orElseThrow(
        () -> new IllegalStateException("stream " + number() + " has no receiver"));
  }

  /** Wakes threads that wait in {@link #send}. */
  void signal() {
    assert lock.isHeldByCurrentThread();
    changed.signalAll();
  }

  /** Called without the lock, one event at a time and in order. */
  void deliver(LinkEvent.OfStream event) {
    switch (event) {
      case LinkEvent.Opened(_, var facts) -> {
        receiver().opened(facts);
        runWritable();
      }
      case LinkEvent.Data(_, int channel, var bytes) -> receiver().data(channel, bytes);
      case LinkEvent.Ended(_, int channel) -> receiver().end(channel);
      case LinkEvent.Message(_, var message) -> receiver().message(message);
      case LinkEvent.Writable _ -> runWritable();
      case LinkEvent.Closed(_, var reason) -> {
        receiver().closed(reason);
        runWritable();
      }
      case LinkEvent.Offered _ -> throw new IllegalStateException("not of a known stream");
    }
  }

  /** Called without the lock: runs a waiting {@link #onWritable} action if its time has come. */
  private void runWritable() {
    Optional<Runnable> action;
    lock.lock();
    try {
      if (writable.isEmpty() || !machine.isWritable(state)) {
        return;
      }
      action = writable;
      writable = Optional.empty();
    } finally {
      lock.unlock();
    }
    action.ifPresent(Runnable::run);
  }
}
