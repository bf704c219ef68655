package dev.gpush.link.machine;

import dev.gpush.link.frame.Frame;
import java.util.ArrayDeque;

/**
 * One stream of a {@link LinkMachine}, as plain data: credit, what waits, and which side has
 * closed. Outside this package it is the handle with which the driver names a stream.
 */
public final class StreamState {
  private final int number;
  private final StreamCredit credit;
  private final ArrayDeque<Frame> waiting = new ArrayDeque<>();
  private boolean announced;
  private boolean opening = true;
  private boolean openWritten;
  private boolean ready;
  private int smallWaiting;
  private int endedChannels;
  private boolean ownClose;
  private boolean ownCloseWritten;
  private boolean peerClose;

  StreamState(int number, StreamCredit credit) {
    this.number = number;
    this.credit = credit;
  }

  public int number() {
    return number;
  }

  /** Whether one side has closed it: nothing more can be sent. */
  public boolean isClosed() {
    return ownClose || peerClose;
  }

  /** Whether our side has ended this channel. */
  public boolean hasEnded(int channel) {
    return (endedChannels & 1 << channel) != 0;
  }

  StreamCredit credit() {
    return credit;
  }

  /** What waits behind the fast lane. */
  ArrayDeque<Frame> waiting() {
    return waiting;
  }

  /** Whether the agent opens streams of this number. */
  boolean isOfAgent() {
    return number % 2 == 0;
  }

  /** Whether OPEN is queued or written; before that the stream is only a reserved number. */
  boolean isAnnounced() {
    return announced;
  }

  void announce() {
    announced = true;
  }

  /** Whether the side that did not open it has still to accept. */
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

  /** Whether it is in the round of streams that have something to send. */
  boolean isReady() {
    return ready;
  }

  void isReady(boolean is) {
    ready = is;
  }

  /** How many of its frames are in the fast lane. */
  int smallWaiting() {
    return smallWaiting;
  }

  void smallWaits(int more) {
    smallWaiting += more;
  }

  void endChannel(int channel) {
    endedChannels |= 1 << channel;
  }

  boolean isOwnClosed() {
    return ownClose;
  }

  void ownCloses() {
    ownClose = true;
  }

  boolean isOwnCloseWritten() {
    return ownCloseWritten;
  }

  void closeIsWritten() {
    ownCloseWritten = true;
  }

  boolean isPeerClosed() {
    return peerClose;
  }

  /** The peer closed or refused, or nothing can come any more: true the first time. */
  boolean peerCloses() {
    boolean first = !peerClose;
    peerClose = true;
    return first;
  }
}
