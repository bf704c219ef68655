package dev.gpush.link;

import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What comes from the agent: checks numbers and credit, keeps count of what is to be acknowledged,
 * and says which receiver to call. The link's lock guards it; the calls it returns are made without
 * the lock.
 */
final class Inbox {
  /** The code with which streams end when the link does. */
  static final String LINK_OVER = "link-over";

  /** The code with which streams end when another agent has taken the place of theirs. */
  static final String AGENT_RESTARTED = "agent-restarted";

  private final Link link;
  private final Contact contact;
  private long last;
  private int highestOfAgent;
  private int unacknowledgedFrames;
  private long unacknowledgedBytes;
  private long oldestNanos;
  private long acknowledgedNanos;
  private long ackNanos = Limits.ACK_NANOS;
  private long writerWakesNanos;

  Inbox(Link link, Contact contact, long nanos) {
    this.link = link;
    this.contact = contact;
    this.acknowledgedNanos = nanos;
    this.writerWakesNanos = nanos;
  }

  Contact contact() {
    return contact;
  }

  long last() {
    return last;
  }

  /**
   * Takes a frame apart.
   *
   * @param json the payload, empty for kinds without JSON
   * @return what to run without the lock, before the next frame
   */
  Runnable accept(Frame frame, Json.Obj json, long nanos) throws ProtocolException {
    return switch (frame.kind()) {
      case ACK -> acknowledged(frame.number());
      case CREDIT -> credit(frame);
      case PONG -> pong();
      case OPEN, OPENED, REFUSED, DATA, END, MESSAGE, CLOSE -> sequenced(frame, json, nanos);
      case HELLO, WELCOME, PING, BYE ->
          throw new ProtocolException("unexpected", frame.kind().toString());
    };
  }

  private Runnable pong() {
    return this::nothing;
  }

  private Runnable sequenced(Frame frame, Json.Obj json, long nanos) throws ProtocolException {
    if (frame.sequence() <= last) {
      return this::nothing;
    }
    if (frame.sequence() != last + 1) {
      throw new ProtocolException("gap", frame.sequence() + " after " + last);
    }
    Runnable call =
        frame.kind() == FrameKind.OPEN ? open(frame.stream(), json) : ofStream(frame, json);
    count(frame, nanos);
    return call;
  }

  /** There is nobody to call. */
  private void nothing() {}

  private void count(Frame frame, long nanos) {
    last = frame.sequence();
    if (unacknowledgedFrames == 0) {
      oldestNanos = nanos;
    }
    unacknowledgedFrames++;
    unacknowledgedBytes += frame.length();
    if (isCountDue()) {
      link.workIsDue();
    } else if (unacknowledgedFrames == 1) {
      writerMustWake(nanos + ackNanos);
    }
  }

  /** At the latest then. */
  void writerMustWake(long nanos) {
    if (nanos - writerWakesNanos < 0) {
      link.work().signal();
    }
  }

  private boolean isCountDue() {
    return unacknowledgedFrames >= Limits.ACK_FRAMES || unacknowledgedBytes >= Limits.ACK_BYTES;
  }

  /**
   * Nanoseconds until an ACK is due: 0 or less for now. Without one a long time, but shortly after
   * the last one no longer than until the next could be due: in a transfer the writer then need not
   * be woken just to learn that the first frame behind each ACK has come.
   */
  long untilAck(long nanos) {
    if (unacknowledgedFrames == 0) {
      boolean isBusy = nanos - acknowledgedNanos < ackNanos;
      return isBusy ? ackNanos : Long.MAX_VALUE;
    }
    return isCountDue() ? 0 : ackNanos - (nanos - oldestNanos);
  }

  /**
   * How long after a frame it is acknowledged at the latest, through the pipe that is there now.
   */
  void acknowledgesWithin(long nanos) {
    ackNanos = nanos;
  }

  /** When the writer, which waits, looks again even if nobody wakes it. */
  void writerWakes(long nanos) {
    writerWakesNanos = nanos;
  }

  /** The ACK, which counts as sent from here on. */
  Frame takeAck(long nanos) {
    acknowledgedNanos = nanos;
    unacknowledgedFrames = 0;
    unacknowledgedBytes = 0;
    return Frame.ofNumber(FrameKind.ACK, 0, last);
  }

  private Runnable acknowledged(long number) throws ProtocolException {
    if (!link.outbox().acknowledge(number)) {
      return this::nothing;
    }
    List<LinkStream> all = link.streams();
    all.forEach(LinkStream::signal);
    return () -> all.forEach(LinkStream::runWritable);
  }

  private Runnable credit(Frame frame) throws ProtocolException {
    Optional<LinkStream> found = link.stream(frame.stream());
    if (found.isEmpty()) {
      // Unsequenced, so it may be about a stream whose last frames crossed it.
      requireKnown(frame);
      return this::nothing;
    }
    LinkStream stream = found.orElseThrow();
    if (!stream.flow().allow(frame.number())) {
      return this::nothing;
    }
    stream.signal();
    return stream::runWritable;
  }

  private void requireKnown(Frame frame) throws ProtocolException {
    int number = frame.stream();
    boolean wasOpen =
        number > 0 && (number % 2 == 1 ? link.wasOpened(number) : number <= highestOfAgent);
    if (!wasOpen) {
      throw new ProtocolException(
          "never-opened", frame.kind() + " " + Integer.toUnsignedString(number));
    }
  }

  private Runnable ofStream(Frame frame, Json.Obj json) throws ProtocolException {
    Optional<LinkStream> found = link.stream(frame.stream());
    if (found.isEmpty()) {
      requireKnown(frame);
      return this::nothing;
    }
    LinkStream stream = found.orElseThrow();
    if (stream.isPeerClosed()) {
      throw new ProtocolException("after-close", frame.kind() + " " + frame.stream());
    }
    if (!stream.isOpenWritten() && frame.stream() % 2 == 1) {
      throw new ProtocolException("never-opened", frame.kind() + " " + frame.stream());
    }
    if (stream.isOpening()
        && frame.kind() != FrameKind.OPENED
        && frame.kind() != FrameKind.REFUSED) {
      throw new ProtocolException(
          "unexpected", frame.kind() + " before OPENED on " + frame.stream());
    }
    return switch (frame.kind()) {
      case OPENED -> opened(stream, json);
      case REFUSED -> refused(stream, json);
      case DATA -> data(stream, frame);
      case END -> {
        stream.flow().peerEnds(frame.flags());
        yield unlessClosed(stream, () -> stream.receiver().end(frame.flags()));
      }
      case MESSAGE -> unlessClosed(stream, () -> stream.receiver().message(json));
      case CLOSE -> closed(stream, json);
      case HELLO, WELCOME, ACK, CREDIT, PING, PONG, BYE, OPEN ->
          throw new IllegalStateException(frame.kind() + " is not of a stream");
    };
  }

  private Runnable opened(LinkStream stream, Json.Obj json) throws ProtocolException {
    if (!stream.isOpening()) {
      throw new ProtocolException("unexpected", "OPENED twice on " + stream.number());
    }
    stream.opened();
    stream.flow().allow(json.number("credit").orElse(0L));
    link.outbox().makeReady(stream);
    link.work().signal();
    stream.signal();
    boolean isClosed = stream.isOwnClosed();
    return () -> {
      if (!isClosed) {
        stream.receiver().opened(json);
      }
      stream.runWritable();
    };
  }

  private Runnable refused(LinkStream stream, Json.Obj json) throws ProtocolException {
    if (!stream.isOpening()) {
      throw new ProtocolException("unexpected", "REFUSED after OPENED on " + stream.number());
    }
    link.outbox().drop(stream);
    link.forget(stream);
    return ended(stream, json);
  }

  /** For streams whose end was not said by the peer, too. */
  Runnable ended(LinkStream stream, Json.Obj reason) {
    if (!stream.peerCloses()) {
      return this::nothing;
    }
    return () -> {
      if (stream.hasReceiver()) {
        stream.receiver().closed(reason);
      }
      stream.runWritable();
    };
  }

  private Runnable data(LinkStream stream, Frame frame) throws ProtocolException {
    stream.flow().receive(frame.flags(), frame.length());
    if (frame.length() == 0) {
      return this::nothing;
    }
    return unlessClosed(stream, () -> stream.receiver().data(frame.flags(), frame.payload()));
  }

  /** Who has closed a stream wants to hear nothing more of it but its end. */
  private Runnable unlessClosed(LinkStream stream, Runnable call) {
    return stream.isOwnClosed() ? this::nothing : call;
  }

  private Runnable closed(LinkStream stream, Json.Obj json) {
    Runnable call = ended(stream, json);
    if (stream.isOwnCloseWritten()) {
      link.forget(stream);
    } else {
      stream.answerClose();
    }
    return call;
  }

  private Runnable open(int number, Json.Obj request) throws ProtocolException {
    if (number <= 0 || number % 2 != 0 || link.stream(number).isPresent()) {
      throw new ProtocolException("stream", "OPEN " + Integer.toUnsignedString(number));
    }
    if (link.outbox().hasTooManyAnswers()) {
      throw new ProtocolException("unacknowledged", "OPEN " + number);
    }
    highestOfAgent = Math.max(highestOfAgent, number);
    if (link.isFull()) {
      refuse(link.openedByAgent(number, request), "limit");
      return this::nothing;
    }
    LinkStream stream = link.openedByAgent(number, request);
    Optional<LinkStream> listener =
        request
            .number("listener")
            .flatMap(listening -> link.stream(listening.intValue()))
            .filter(LinkStream::hasReceiver);
    return () -> {
      Optional<StreamReceiver> made =
          listener.flatMap(listening -> listening.receiver().accepted(stream, request));
      link.lock();
      try {
        made.ifPresentOrElse(
            receiver -> admit(stream, receiver), () -> refuse(stream, "not-found"));
      } finally {
        link.unlock();
      }
      stream.runWritable();
    };
  }

  private void admit(LinkStream stream, StreamReceiver receiver) {
    if (stream.isPeerClosed()) {
      return;
    }
    stream.receiver(receiver);
    stream.opened();
    link.outbox()
        .addFirst(
            stream,
            Frame.ofJson(
                FrameKind.OPENED,
                0,
                stream.number(),
                Json.object("credit", stream.flow().granted())));
    link.work().signal();
    stream.signal();
  }

  private void refuse(LinkStream stream, String code) {
    link.outbox().drop(stream);
    stream.opened();
    stream.peerCloses();
    link.outbox()
        .addFirst(
            stream,
            Frame.ofJson(
                FrameKind.REFUSED,
                0,
                stream.number(),
                Json.object("code", code, "facts", Json.object())));
    link.work().signal();
    link.forget(stream);
  }

  /** A new conversation: every stream that the old agent knew ends; the calls are returned. */
  List<Runnable> restart(String code) {
    last = 0;
    highestOfAgent = 0;
    newPipe();
    var calls = new ArrayList<Runnable>();
    for (LinkStream stream : link.streams()) {
      if (stream.isOpenWritten() || stream.number() % 2 == 0) {
        link.forget(stream);
        calls.add(ended(stream, Json.object("code", code, "facts", Json.object())));
      }
    }
    link.outbox().restart();
    return calls;
  }

  /** HELLO has said what we have: no acknowledgement is owed. */
  void newPipe() {
    unacknowledgedFrames = 0;
    unacknowledgedBytes = 0;
  }

  /** The link is over: every stream ends; the calls are returned. */
  List<Runnable> end(String reason) {
    var calls = new ArrayList<Runnable>();
    for (LinkStream stream : link.streams()) {
      link.forget(stream);
      calls.add(
          ended(stream, Json.object("code", LINK_OVER, "facts", Json.object("reason", reason))));
    }
    return calls;
  }
}
