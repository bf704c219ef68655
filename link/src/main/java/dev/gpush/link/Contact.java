package dev.gpush.link;

/**
 * When the agent was last heard, and by when it must be heard again. Plain numbers, which the
 * link's lock guards.
 *
 * <p>Hearing something is not enough: when only the way to the agent hangs, its PINGs still come.
 * What counts is an answer, that is PONG or ACK. On a slow network an answer may queue behind bulk,
 * so bulk that comes puts the end off, for a while.
 */
final class Contact {
  /** So many contact limits is bulk taken for an answer. */
  private static final int PATIENCE = 4;

  private final LinkTiming timing;
  private long heard;
  private long begun;
  private long answered;
  private long carried;
  private long pinged;
  private long woken;
  private boolean isFresh;

  Contact(LinkTiming timing, long nanos) {
    this.timing = timing;
    this.heard = nanos;
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
    heard = nanos;
    switch (frame.kind()) {
      case PONG, ACK, WELCOME -> {
        answered = nanos;
        isFresh = true;
      }
      case OPEN, OPENED, REFUSED, DATA, END, MESSAGE, CLOSE -> carried = nanos;
      case HELLO, CREDIT, PING, BYE -> {}
    }
  }

  /** When something last came. */
  long heardNanos() {
    return heard;
  }

  /** When something last came that the agent can only have said after it heard us. */
  long answeredNanos() {
    return answered;
  }

  /** We did not run for a while: the pipe shall say soon whether it lives. */
  void wakes(long nanos) {
    woken = nanos;
    isFresh = false;
    pinged = nanos - timing.ping().toNanos();
  }

  void pinged(long nanos) {
    pinged = nanos;
  }

  long untilPing(long nanos) {
    long quiet = isFresh ? Math.max(answered, pinged) : pinged;
    return quiet + timing.ping().toNanos() - nanos;
  }

  /** When the pipe is to be given up. */
  long deadline(boolean greeting) {
    long limit = timing.contact().toNanos();
    if (!isFresh) {
      return woken + timing.wake().toNanos();
    }
    if (greeting) {
      return begun + timing.greeting().toNanos();
    }
    return Math.max(answered + limit, Math.min(carried + limit, answered + PATIENCE * limit));
  }
}
