package dev.gpush.link.machine;

import dev.gpush.core.json.Json;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.frame.ProtocolException;
import java.util.Collection;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * What a received frame means: checks its number, its stream and its credit, and emits the events
 * of it. Frames that start or end a pipe are {@link PipeCycle}'s.
 */
final class FrameIntake {
  private final StreamTable streams;
  private final SendQueue queue;
  private final AckSchedule acks;
  private final Consumer<LinkEvent> events;

  FrameIntake(StreamTable streams, SendQueue queue, AckSchedule acks, Consumer<LinkEvent> events) {
    this.streams = streams;
    this.queue = queue;
    this.acks = acks;
    this.events = events;
  }

  /**
   * Takes a frame.
   *
   * @param json the payload, empty for kinds without JSON
   */
  void accept(Frame frame, Json.Obj json, long nanos) throws ProtocolException {
    switch (frame.kind()) {
      case ACK -> acknowledged(frame.number());
      case CREDIT -> credit(frame);
      case PING -> queue.addPong(Frame.ofNumber(FrameKind.PONG, 0, frame.number()));
      case PONG -> {}
      case OPEN, OPENED, REFUSED, DATA, END, MESSAGE, CLOSE -> sequenced(frame, json, nanos);
      case HELLO, WELCOME, BYE ->
          throw new ProtocolException("unexpected", frame.kind().toString());
    }
  }

  private void sequenced(Frame frame, Json.Obj json, long nanos) throws ProtocolException {
    if (frame.sequence() <= acks.last()) {
      return;
    }
    if (frame.sequence() != acks.last() + 1) {
      throw new ProtocolException("gap", frame.sequence() + " after " + acks.last());
    }
    if (frame.kind() == FrameKind.OPEN) {
      open(frame.stream(), json);
    } else {
      ofStream(frame, json);
    }
    acks.count(frame, nanos);
  }

  private void acknowledged(long number) throws ProtocolException {
    areWritable(queue.acknowledge(number, streams.open()));
  }

  /** Senders may continue. */
  private void areWritable(Collection<StreamState> relieved) {
    relieved.forEach(stream -> events.accept(new LinkEvent.Writable(stream)));
  }

  private void credit(Frame frame) throws ProtocolException {
    Optional<StreamState> found = streams.find(frame.stream());
    if (found.isEmpty()) {
      // It has no number, so the stream may have ended before it arrived.
      requireKnown(frame);
      return;
    }
    StreamState stream = found.orElseThrow();
    if (stream.credit().allow(frame.number())) {
      events.accept(new LinkEvent.Writable(stream));
    }
  }

  private void requireKnown(Frame frame) throws ProtocolException {
    if (!streams.wasOpened(frame.stream())) {
      throw neverOpened(frame);
    }
  }

  private static ProtocolException neverOpened(Frame frame) {
    return new ProtocolException(
        "never-opened", frame.kind() + " " + Integer.toUnsignedString(frame.stream()));
  }

  private void ofStream(Frame frame, Json.Obj json) throws ProtocolException {
    Optional<StreamState> found = streams.find(frame.stream());
    if (found.isEmpty()) {
      requireKnown(frame);
      return;
    }
    StreamState stream = found.orElseThrow();
    if (stream.isPeerClosed()) {
      throw new ProtocolException("after-close", frame.kind() + " " + frame.stream());
    }
    if (!stream.isOpenWritten() && !stream.isOfAgent()) {
      throw neverOpened(frame);
    }
    boolean isAnswer = frame.kind() == FrameKind.OPENED || frame.kind() == FrameKind.REFUSED;
    if (stream.isOpening() != isAnswer) {
      throw new ProtocolException(
          "unexpected",
          frame.kind() + (isAnswer ? " twice on " : " before OPENED on ") + frame.stream());
    }
    switch (frame.kind()) {
      case OPENED -> opened(stream, json);
      case REFUSED -> {
        queue.drop(stream);
        streams.forget(stream);
        ended(stream, json);
      }
      case DATA -> data(stream, frame);
      case END -> {
        stream.credit().peerEnds(frame.flags());
        emit(stream, new LinkEvent.Ended(stream, frame.flags()));
      }
      case MESSAGE -> emit(stream, new LinkEvent.Message(stream, json));
      case CLOSE -> closed(stream, json);
      case HELLO, WELCOME, ACK, CREDIT, PING, PONG, BYE, OPEN ->
          throw new IllegalStateException(frame.kind() + " is not of a stream");
    }
  }

  private void opened(StreamState stream, Json.Obj json) {
    stream.opened();
    stream.credit().allow(json.number("credit").orElse(0L));
    queue.release(stream);
    events.accept(
        stream.isOwnClosed() ? new LinkEvent.Writable(stream) : new LinkEvent.Opened(stream, json));
  }

  private void data(StreamState stream, Frame frame) throws ProtocolException {
    stream.credit().receive(frame.flags(), frame.length());
    if (frame.length() > 0) {
      emit(stream, new LinkEvent.Data(stream, frame.flags(), frame.payload()));
    }
  }

  /** A user that has closed a stream gets no event of it but its end. */
  private void emit(StreamState stream, LinkEvent event) {
    if (!stream.isOwnClosed()) {
      events.accept(event);
    }
  }

  private void closed(StreamState stream, Json.Obj json) {
    ended(stream, json);
    if (stream.isOwnCloseWritten()) {
      streams.forget(stream);
    } else if (!stream.isOwnClosed()) {
      stream.ownCloses();
      queue.add(stream, Frame.ofJson(FrameKind.CLOSE, 0, stream.number(), Json.object()));
    }
  }

  /** The peer will never hear of a stream of ours, so it ends here. */
  void withdraw(StreamState stream) {
    queue.drop(stream);
    streams.forget(stream);
    ended(stream, Json.object());
  }

  private void ended(StreamState stream, Json.Obj reason) {
    if (stream.peerCloses()) {
      events.accept(new LinkEvent.Closed(stream, reason));
    }
  }

  private void open(int number, Json.Obj request) throws ProtocolException {
    if (number <= 0 || number % 2 != 0 || streams.find(number).isPresent()) {
      throw new ProtocolException("stream", "OPEN " + Integer.toUnsignedString(number));
    }
    if (queue.hasTooManyAnswers()) {
      throw new ProtocolException("unacknowledged", "OPEN " + number);
    }
    boolean isFull = streams.isFull();
    StreamState stream = streams.openedByAgent(number, request.number("credit").orElse(0L));
    if (isFull) {
      refuse(stream, "limit");
      return;
    }
    Optional<StreamState> listener = request.integer("listener").flatMap(streams::find);
    events.accept(new LinkEvent.Offered(stream, listener, request));
  }

  /** A stream of the agent is wanted. */
  void accept(StreamState stream) {
    stream.opened();
    Json facts = Json.object("credit", stream.credit().granted());
    queue.addFirst(stream, Frame.ofJson(FrameKind.OPENED, 0, stream.number(), facts));
    events.accept(new LinkEvent.Writable(stream));
  }

  /** A stream of the agent is not wanted. */
  void refuse(StreamState stream, String code) {
    queue.drop(stream);
    stream.opened();
    stream.peerCloses();
    Json reason = Json.object("code", code, "facts", Json.object());
    queue.addFirst(stream, Frame.ofJson(FrameKind.REFUSED, 0, stream.number(), reason));
    streams.forget(stream);
  }

  /** A new pipe to the same agent, which has received what we sent up to {@code last}. */
  void resume(long last) throws ProtocolException {
    areWritable(queue.resume(last, streams.open()));
  }

  /** A new conversation: every stream that the old agent knew ends. */
  void restart(Json.Obj reason) {
    acks.restart();
    streams.restart();
    for (StreamState stream : streams.all()) {
      if (stream.isOpenWritten() || stream.isOfAgent()) {
        streams.forget(stream);
        ended(stream, reason);
        // The new agent has never heard of it, and must hear of no END and no CLOSE of it either.
        stream.ownCloses();
      }
    }
    queue.restart();
  }

  /** The link is over: every stream ends. */
  void end(Json.Obj reason) {
    for (StreamState stream : streams.all()) {
      streams.forget(stream);
      if (stream.isAnnounced()) {
        ended(stream, reason);
      } else {
        stream.peerCloses();
      }
    }
  }
}
