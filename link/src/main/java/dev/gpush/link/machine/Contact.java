package dev.gpush.link.machine;

import dev.gpush.link.frame.Frame;

/**
 * When the agent was last heard, and by when it must be heard again. Plain numbers.
 *
 * <p>Receiving something is not enough: when only the direction to the agent hangs, its PINGs still
 * come. What counts is an answer, that is PONG or ACK. On a slow network an answer may queue behind
 * bulk, so bulk that arrives extends the limit for a while.
 */
final class Contact {
  /** For this many contact limits, bulk counts as an answer. */
  private static final int PATIENCE = 4;

  private final LinkWaits waits;
  private long begun;
  private long answered;
  private long carried;
  private long pinged;
  private long woken;
  private boolean isFresh;

  Contact(LinkWaits waits, long nanos) {
    this.waits = waits;
    begin(nanos);
  }

  /** A new pipe. */
  void begin(long nanos) {
    begun = nanos;
    answered = nanos;
    carried = nanos;
    pinged = nanos;
    isFresh = true;
  }

  void heard(Frame frame, long nanos) {
    switch (frame.kind()) {
      case PONG, ACK, WELCOME -> {
        answered = nanos;
        isFresh = true;
      }
      case OPEN, OPENED, REFUSED, DATA, END, MESSAGE, CLOSE -> carried = nanos;
      case HELLO, CREDIT, PING, BYE -> {}
    }
  }

  /** When something last came that the agent can only send as an answer. */
  long answeredNanos() {
    return answered;
  }

  /** The process did not run for a while: the pipe must answer soon. */
  void wakes(long nanos) {
    woken = nanos;
    isFresh = false;
    pinged = nanos - waits.ping();
  }

  void pinged(long nanos) {
    pinged = nanos;
  }

  long untilPing(long nanos) {
    long quiet = isFresh ? Math.max(answered, pinged) : pinged;
    return quiet + waits.ping() - nanos;
  }

  /** When the pipe must be given up. */
  long deadline(boolean greeting) {
    long limit = waits.contact();
    if (!isFresh) {
      return woken + waits.wake();
    }
    if (greeting) {
      return begun + waits.greeting();
    }
    return Math.max(answered + limit, Math.min(carried + limit, answered + PATIENCE * limit));
  }
}
