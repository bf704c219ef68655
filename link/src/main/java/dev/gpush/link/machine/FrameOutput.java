package dev.gpush.link.machine;

import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.frame.FrameLimits;
import java.util.List;

/** What goes to the pipe, and when: PING and ACK that are due, and what the queue holds. */
final class FrameOutput {
  private final StreamTable streams;
  private final SendQueue queue;
  private final AckSchedule acks;
  private final Contact contact;
  private final PipeCycle pipes;

  FrameOutput(
      StreamTable streams, SendQueue queue, AckSchedule acks, Contact contact, PipeCycle pipes) {
    this.streams = streams;
    this.queue = queue;
    this.acks = acks;
    this.contact = contact;
    this.pipes = pipes;
  }

  /** Whether frames of streams go through this pipe. */
  boolean isWriting(int pipe) {
    return pipes.isWritable(pipe) && !pipes.isGreeting() && !pipes.isLeaving();
  }

  /** See {@link LinkMachine#take}. */
  boolean take(int pipe, List<Frame> batch, long nanos) {
    if (!pipes.isWritable(pipe)) {
      return false;
    }
    if (!isWriting(pipe)) {
      pipes.takeControl(batch);
      return pipes.isWritable(pipe);
    }
    takeFrames(batch, nanos);
    return true;
  }

  private void takeFrames(List<Frame> batch, long nanos) {
    if (contact.untilPing(nanos) <= 0) {
      batch.add(ping(nanos));
    }
    if (acks.until(nanos) <= 0) {
      batch.add(acks.take(nanos));
    }
    for (StreamState closed : queue.take(batch)) {
      if (closed.isPeerClosed()) {
        streams.forget(closed);
      }
    }
    if (pipes.holdsBack() && !batch.isEmpty() && !isAnsweredByItself(batch)) {
      batch.addFirst(ping(nanos));
    }
  }

  private Frame ping(long nanos) {
    contact.pinged(nanos);
    return Frame.ofNumber(FrameKind.PING, 0, nanos);
  }

  /**
   * Whether the agent answers one of these frames anyway. An answer releases what is held back: of
   * a long write all pieces but the first, and the write that follows one without an answer.
   */
  private static boolean isAnsweredByItself(List<Frame> batch) {
    int length = 0;
    boolean isAnswered = false;
    for (Frame frame : batch) {
      length += FrameLimits.HEADER_BYTES + frame.length();
      isAnswered |=
          switch (frame.kind()) {
            case OPEN, DATA, MESSAGE, PING -> true;
            case HELLO, WELCOME, ACK, CREDIT, PONG, BYE, OPENED, REFUSED, END, CLOSE -> false;
          };
    }
    return isAnswered && length <= LinkLimits.ONE_PIECE;
  }

  /** See {@link LinkMachine#untilWrite}. */
  long untilWrite(int pipe, long nanos) {
    if (!pipes.isWritable(pipe)) {
      return 0;
    }
    if (!isWriting(pipe)) {
      return queue.hasControl() ? 0 : Long.MAX_VALUE;
    }
    if (!queue.isEmpty()) {
      return 0;
    }
    return Math.min(contact.untilPing(nanos), acks.until(nanos));
  }

  /** See {@link LinkMachine#isSmall}. */
  boolean isSmall(int pipe) {
    return isWriting(pipe) && queue.isSmall();
  }
}
