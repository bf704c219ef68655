package dev.gpush.ssh.socket;

/**
 * Whether the peer reads so much later than packets are made for it that it is not read from: what
 * it sends would only make more of them. It ends at half of what begins it. Changed under the lock
 * of the connection, and read on any thread.
 */
final class Behind {
  static final int MOST_WAITING = 256;

  private volatile boolean is;

  boolean is() {
    return is;
  }

  /** One more waits. It never ends here: nobody would wake the thread that reads. */
  void added(int waiting) {
    is |= waiting > MOST_WAITING;
  }

  /** Returns whether it has ended, so that the thread that reads has to be woken. */
  boolean endedAt(int waiting) {
    if (is && waiting <= MOST_WAITING / 2) {
      is = false;
      return true;
    }
    return false;
  }
}
