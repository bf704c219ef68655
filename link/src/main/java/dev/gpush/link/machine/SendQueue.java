package dev.gpush.link.machine;

import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.frame.FrameLimits;
import dev.gpush.link.frame.ProtocolException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Frames that wait to be written, and frames that were written and are kept for another pipe.
 *
 * <p>A frame gets its number when it is taken to be written; until then it may be overtaken. Order:
 * what belongs to the link itself (acknowledgement, credit, PING, PONG), what must be replayed,
 * small and urgent frames, then the other streams in turn. A stream has at most one ordinary small
 * frame in the fast lane, and nothing of its slow lane goes while the fast lane holds something of
 * it, so order within a stream never changes (an urgent MESSAGE apart).
 */
final class SendQueue {
  /** A frame of a stream in the fast lane. */
  private record Small(StreamState stream, Frame frame) {}

  /** A numbered frame that the peer has not acknowledged. */
  private record Kept(StreamState stream, Frame frame) {}

  private final long pool;
  private final ArrayDeque<Frame> control = new ArrayDeque<>();
  private final Set<StreamState> credits = new LinkedHashSet<>();
  private final ArrayDeque<Frame> replay = new ArrayDeque<>();
  private final ArrayDeque<Small> small = new ArrayDeque<>();
  private final ArrayDeque<StreamState> ready = new ArrayDeque<>();
  private final ArrayDeque<Kept> kept = new ArrayDeque<>();
  private long nextSequence = 1;
  private long bytes;
  private int keptOthers;
  private int smallInARow;

  /**
   * @param pool how much is kept before bulk waits
   */
  SendQueue(long pool) {
    this.pool = pool;
  }

  void add(StreamState stream, Frame frame) {
    if (frame.kind() == FrameKind.DATA) {
      bytes += frame.length() + LinkLimits.FRAME_COST;
    }
    if (stream.isOpening() && frame.kind() != FrameKind.OPEN) {
      // The peer may refuse, and then must not find more of the stream behind it.
      stream.waiting().add(frame);
    } else if (isFast(stream, frame)) {
      stream.smallWaits(1);
      small.add(new Small(stream, frame));
    } else {
      stream.waiting().add(frame);
      makeReady(stream);
    }
  }

  /** The answer to the peer's OPEN goes before all that waits on the stream. */
  void addFirst(StreamState stream, Frame answer) {
    stream.smallWaits(1);
    small.add(new Small(stream, answer));
    release(stream);
  }

  private static boolean isFast(StreamState stream, Frame frame) {
    boolean hasNothingElse = stream.waiting().isEmpty() && stream.smallWaiting() == 0;
    return isUrgent(frame)
        || frame.kind() == FrameKind.OPEN
        || (hasNothingElse && frame.length() <= LinkLimits.SMALL_FRAME);
  }

  /**
   * Releases what waited for OPENED. Urgent messages go ahead, or one that comes now would overtake
   * them: of two sizes of a terminal the older would count.
   */
  void release(StreamState stream) {
    stream
        .waiting()
        .removeIf(
            frame -> {
              boolean isUrgent = isUrgent(frame);
              if (isUrgent) {
                stream.smallWaits(1);
                small.add(new Small(stream, frame));
              }
              return isUrgent;
            });
    makeReady(stream);
  }

  private static boolean isUrgent(Frame frame) {
    return frame.kind() == FrameKind.MESSAGE && frame.flags() == 1;
  }

  private void makeReady(StreamState stream) {
    if (!stream.isReady() && !stream.waiting().isEmpty()) {
      stream.isReady(true);
      ready.add(stream);
    }
  }

  void addControl(Frame frame) {
    control.add(frame);
  }

  /** The last one is enough: a peer that sends PING without reading must not fill our memory. */
  void addPong(Frame frame) {
    control.removeIf(waits -> waits.kind() == FrameKind.PONG);
    control.add(frame);
  }

  void addCredit(StreamState stream) {
    credits.add(stream);
  }

  boolean hasControl() {
    return !control.isEmpty();
  }

  boolean isEmpty() {
    return control.isEmpty()
        && credits.isEmpty()
        && replay.isEmpty()
        && small.isEmpty()
        && ready.isEmpty();
  }

  /** Whether all that waits is at most one small frame of a stream, and control frames. */
  boolean isSmall() {
    return replay.isEmpty()
        && ready.isEmpty()
        && small.size() <= 1
        && small.stream().allMatch(next -> next.frame().length() <= LinkLimits.SMALL_FRAME)
        && control.size() + credits.size() <= LinkLimits.CONTROL_FRAMES
        && control.stream().allMatch(frame -> frame.length() <= Long.BYTES);
  }

  /** Only what starts a pipe; nothing of a stream may go before the peer has said hello. */
  void takeControl(List<Frame> batch) {
    batch.addAll(control);
    control.clear();
  }

  /**
   * Takes what to write next, in order of importance, about one piece of bulk; streams that end
   * with it are returned.
   */
  List<StreamState> take(List<Frame> batch) {
    takeControl(batch);
    for (StreamState stream : credits) {
      // After our CLOSE the peer may have forgotten the stream, and needs no credit to close it.
      if (!stream.isOwnCloseWritten()) {
        batch.add(Frame.ofNumber(FrameKind.CREDIT, stream.number(), stream.credit().granted()));
      }
    }
    credits.clear();
    var ended = new ArrayList<StreamState>();
    int room = FrameLimits.MAX_PIECE;
    while (room > 0) {
      Frame frame = replay.poll();
      if (frame == null) {
        frame = nextOfStreams(ended);
      }
      if (frame == null) {
        break;
      }
      batch.add(frame);
      room -= frame.length() + FrameLimits.HEADER_BYTES;
    }
    return ended;
  }

  private @Nullable Frame nextOfStreams(List<StreamState> ended) {
    boolean bulkIsDue = smallInARow >= LinkLimits.SMALL_IN_A_ROW;
    for (int left = ready.size(); (small.isEmpty() || bulkIsDue) && left > 0; left--) {
      StreamState stream = ready.remove();
      if (stream.smallWaiting() > 0) {
        ready.add(stream);
        continue;
      }
      Frame frame = stream.waiting().remove();
      stream.isReady(false);
      makeReady(stream);
      smallInARow = 0;
      return number(stream, frame, ended);
    }
    Small next = small.poll();
    if (next == null) {
      return null;
    }
    next.stream().smallWaits(-1);
    smallInARow++;
    return number(next.stream(), next.frame(), ended);
  }

  private Frame number(StreamState stream, Frame frame, List<StreamState> ended) {
    Frame numbered = frame.numbered(nextSequence++);
    kept.add(new Kept(stream, numbered));
    keptOthers += frame.kind() == FrameKind.DATA ? 0 : 1;
    switch (frame.kind()) {
      case OPEN -> stream.openIsWritten();
      case MESSAGE -> stream.credit().messageWaits(-1);
      case CLOSE, REFUSED -> {
        stream.closeIsWritten();
        ended.add(stream);
      }
      case HELLO, WELCOME, ACK, CREDIT, PING, PONG, BYE, OPENED, DATA, END -> {}
    }
    return numbered;
  }

  /**
   * Forgets frames that the peer has received.
   *
   * @param open all streams
   * @return those that may be written again: all when what we keep has come below the pool's size,
   *     else those whose own part has come below what a stream may keep in a full pool
   */
  Collection<StreamState> acknowledge(long last, Collection<StreamState> open)
      throws ProtocolException {
    if (last >= nextSequence) {
      throw new ProtocolException("sequence", "acknowledged " + last + " of " + (nextSequence - 1));
    }
    boolean wasFull = isFull();
    var relieved = new LinkedHashSet<StreamState>();
    while (!kept.isEmpty() && kept.element().frame().sequence() <= last) {
      Kept done = kept.remove();
      if (done.frame().kind() == FrameKind.DATA) {
        bytes -= done.frame().length() + LinkLimits.FRAME_COST;
        if (done.stream().credit().acknowledged(done.frame().length()) && wasFull) {
          relieved.add(done.stream());
        }
      } else {
        keptOthers--;
      }
    }
    return wasFull && !isFull() ? open : relieved;
  }

  /** Whether all that we keep is more than one link may cost. */
  boolean isFull() {
    return bytes >= pool;
  }

  /** See {@link LinkLimits#MAX_UNACKNOWLEDGED}. */
  boolean hasTooManyAnswers() {
    return keptOthers + small.size() + ready.size() > LinkLimits.MAX_UNACKNOWLEDGED;
  }

  /** The last number that the peer has acknowledged. */
  long acknowledged() {
    return nextSequence - 1 - kept.size();
  }

  /** What waits or is kept, with what its frames cost. */
  long keptBytes() {
    return bytes;
  }

  int keptFrames() {
    return kept.size();
  }

  /**
   * A new pipe to the same agent: everything above its last number again, then credit for every
   * open stream. Returns what {@link #acknowledge} does.
   */
  Collection<StreamState> resume(long last, Collection<StreamState> open) throws ProtocolException {
    newPipe();
    Collection<StreamState> relieved = acknowledge(last, open);
    kept.forEach(entry -> replay.add(entry.frame()));
    credits.addAll(open);
    return relieved;
  }

  /** Drops what was queued for the pipe before. */
  void newPipe() {
    control.clear();
    credits.clear();
    replay.clear();
  }

  /**
   * A new conversation. Streams whose OPEN was never written stay as they are; all others are
   * dropped.
   */
  void restart() {
    newPipe();
    kept.clear();
    small.removeIf(entry -> entry.frame().kind() != FrameKind.OPEN);
    ready.clear();
    nextSequence = 1;
    keptOthers = 0;
    bytes = 0; // a stream that waits for its OPEN has no credit, so it has no data either
  }

  /** Drops the frames of a stream that was refused, or that the peer never hears of. */
  void drop(StreamState stream) {
    for (Frame frame : stream.waiting()) {
      if (frame.kind() == FrameKind.DATA) {
        bytes -= frame.length() + LinkLimits.FRAME_COST;
      }
    }
    if (stream.smallWaiting() > 0) {
      small.removeIf(entry -> entry.stream() == stream);
      stream.smallWaits(-stream.smallWaiting());
    }
    stream.waiting().clear();
    if (stream.isReady()) {
      ready.remove(stream);
    }
    credits.remove(stream);
    stream.isReady(false);
  }
}
