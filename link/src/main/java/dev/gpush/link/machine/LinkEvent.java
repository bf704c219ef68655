package dev.gpush.link.machine;

import dev.gpush.core.json.Json;
import java.nio.ByteBuffer;
import java.util.Optional;

/** What the machine reports to its driver, in the order in which it happened. */
public sealed interface LinkEvent {
  /** An event of one stream. */
  sealed interface OfStream extends LinkEvent {
    StreamState stream();
  }

  /** An event of the link itself. */
  sealed interface OfLink extends LinkEvent {}

  /** The peer accepted the stream; it may be written now. */
  record Opened(StreamState stream, Json.Obj facts) implements OfStream {}

  /** Bytes came; {@link LinkMachine#consumed} gives their credit back. */
  record Data(StreamState stream, int channel, ByteBuffer bytes) implements OfStream {}

  /** The peer sends nothing more on this channel. */
  record Ended(StreamState stream, int channel) implements OfStream {}

  record Message(StreamState stream, Json.Obj message) implements OfStream {}

  /** {@link LinkMachine#isWritable} may have become true. */
  record Writable(StreamState stream) implements OfStream {}

  /** Nothing more comes; the last event of the stream but {@link Writable}. */
  record Closed(StreamState stream, Json.Obj reason) implements OfStream {}

  /**
   * The agent opens a stream. The driver answers with {@link LinkMachine#accept} or {@link
   * LinkMachine#refuse} before it gives the next frame.
   *
   * @param listener the stream that it belongs to
   */
  record Offered(StreamState stream, Optional<StreamState> listener, Json.Obj request)
      implements OfStream {}

  /**
   * Frames of streams flow.
   *
   * @param resumed false when the agent is new to us: the streams of the old one have ended
   */
  record Up(Json.Obj welcome, boolean resumed) implements OfLink {}

  /** There is no pipe that works. Another one follows. */
  record Cut(String reason) implements OfLink {}

  /** The attempt to connect failed, and no other follows. */
  record NotConnected(String reason) implements OfLink {}

  /** The end. */
  record Over(String reason) implements OfLink {}

  /** The end: another gateway has the node. */
  record Superseded(String holder, long term) implements OfLink {}

  /** The end: the agent speaks another version. */
  record OtherVersion() implements OfLink {}
}
