package dev.gpush.link.machine;

import dev.gpush.link.frame.ProtocolException;

/**
 * The arithmetic of one stream's credit, both ways: plain numbers.
 *
 * <p>The receive window starts small and doubles whenever the peer has used it up while everything
 * received was consumed already: then only the window slows the stream. A slow consumer never gets
 * there, so its backlog stays small.
 */
final class StreamCredit {
  private final WindowPool pool;

  private long allowedToSend;
  private long sent;
  private long kept;
  private int waitingMessages;

  private int window;
  private long granted;
  private long received;
  private long consumed;
  private int endedByPeer;

  /** A stream whose receive window was taken from the pool already. */
  StreamCredit(WindowPool pool, int window) {
    this.pool = pool;
    this.window = window;
    this.granted = window;
  }

  /** How many bytes the peer still allows. */
  long credit() {
    return allowedToSend - sent;
  }

  /** The peer's total only ever grows; an older number has arrived late. True when it grew. */
  boolean allow(long total) {
    boolean grows = total > allowedToSend;
    allowedToSend = Math.max(allowedToSend, total);
    return grows;
  }

  void send(int bytes) {
    sent += bytes;
    kept += bytes + LinkLimits.FRAME_COST;
  }

  /**
   * The peer has these bytes; they need not be kept for another pipe. True when the stream now
   * keeps less than a full pool leaves to each, and did not before.
   */
  boolean acknowledged(int bytes) {
    boolean wasAbove = kept >= LinkLimits.SMALL_WINDOW;
    kept -= bytes + LinkLimits.FRAME_COST;
    return wasAbove && kept < LinkLimits.SMALL_WINDOW;
  }

  /** What we keep in memory, with what its frames cost: waiting, or sent and not acknowledged. */
  long kept() {
    return kept;
  }

  int waitingMessages() {
    return waitingMessages;
  }

  void messageWaits(int more) {
    waitingMessages += more;
  }

  long granted() {
    return granted;
  }

  void receive(int channel, int bytes) throws ProtocolException {
    requireNotEnded(channel);
    if (received + bytes > granted) {
      throw new ProtocolException("credit", received + bytes + " of " + granted);
    }
    received += bytes;
  }

  /** The peer sends nothing more on this channel. */
  void peerEnds(int channel) throws ProtocolException {
    requireNotEnded(channel);
    endedByPeer |= 1 << channel;
  }

  private void requireNotEnded(int channel) throws ProtocolException {
    if ((endedByPeer & 1 << channel) != 0) {
      throw new ProtocolException("after-end", "channel " + channel);
    }
  }

  /** Counts consumed bytes; true when it is time to send the peer new credit. */
  boolean consume(int bytes) {
    consumed += bytes;
    if (consumed > received) {
      throw new IllegalStateException(
          "consumed " + consumed + " of " + received + " received bytes");
    }
    if (consumed == received && granted - received < window / 4) {
      window += pool.more(window);
    }
    if (consumed + window - granted < window / 2) {
      return false;
    }
    granted = consumed + window;
    return true;
  }

  /** Gives the window back to the pool; nothing is received any more. */
  void end() {
    pool.giveBack(window);
    window = 0;
  }
}
