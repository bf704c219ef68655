package dev.gpush.link.machine;

import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameKind;

/** What was received, and when it must be acknowledged. */
final class AckSchedule {
  private long last;
  private int frames;
  private long bytes;
  private long oldestNanos;
  private long sentNanos;
  private long withinNanos = LinkLimits.ACK_NANOS;

  AckSchedule(long nanos) {
    this.sentNanos = nanos;
  }

  /** The sequence of the last frame received. */
  long last() {
    return last;
  }

  void count(Frame frame, long nanos) {
    last = frame.sequence();
    if (frames == 0) {
      oldestNanos = nanos;
    }
    frames++;
    bytes += frame.length();
  }

  private boolean isCountDue() {
    return frames >= LinkLimits.ACK_FRAMES || bytes >= LinkLimits.ACK_BYTES;
  }

  /**
   * Nanoseconds until an ACK is due: 0 or less for now. Without one it is a long time, but shortly
   * after the last one no longer than until the next could be due: so during a transfer the writer
   * need not be woken for the first frame after each ACK.
   */
  long until(long nanos) {
    if (frames == 0) {
      return nanos - sentNanos < withinNanos ? withinNanos : Long.MAX_VALUE;
    }
    return isCountDue() ? 0 : withinNanos - (nanos - oldestNanos);
  }

  /** The ACK, which counts as sent from here on. */
  Frame take(long nanos) {
    sentNanos = nanos;
    frames = 0;
    bytes = 0;
    return Frame.ofNumber(FrameKind.ACK, 0, last);
  }

  /**
   * A new pipe: HELLO has named the last frame received, so no acknowledgement is due.
   *
   * @param nanos how long after a frame it is acknowledged at the latest, through that pipe
   */
  void newPipe(long nanos) {
    frames = 0;
    bytes = 0;
    withinNanos = nanos;
  }

  /** A new link, which counts from 1. */
  void restart() {
    last = 0;
    frames = 0;
    bytes = 0;
  }
}
