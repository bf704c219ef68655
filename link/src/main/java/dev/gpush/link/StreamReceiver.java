package dev.gpush.link;

import dev.gpush.core.json.Json;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * Receives the events of a stream. Called on the link's threads, one call at a time and in the
 * order of the stream. It must not block: a slow receiver delays every stream of the link.
 */
public interface StreamReceiver {
  /**
   * The peer accepted; nothing else comes before this, except {@link #closed} when it refused or
   * never heard of it.
   */
  default void opened(Json.Obj facts) {}

  /**
   * Bytes on channel 0 (main) or 1 (stderr). The receiver may keep the buffer. Credit goes back to
   * the sender only through {@link LinkStream#consumed}, so what is not consumed yet is bounded by
   * the stream's window.
   */
  void data(int channel, ByteBuffer bytes);

  /** The peer sends nothing more on this channel. */
  default void end(int channel) {}

  default void message(Json.Obj message) {}

  /**
   * A connection arrived at this stream, which is a listener ({@code listen-tcp}, {@code
   * listen-unix}). Empty refuses it.
   *
   * @param stream may be kept and sent to; what is sent goes out once this has returned
   */
  default Optional<StreamReceiver> accepted(LinkStream stream, Json.Obj request) {
    return Optional.empty();
  }

  /**
   * The end of the stream; called exactly once, as the last call. {@code {}} (also when it was
   * closed before anything was sent), {@code {exit}}, {@code {signal, core}}, or {@code {code,
   * facts}}: what the peer refused or ended with, {@code agent-restarted} when the agent that had
   * the stream is gone, {@code link-over} when the link is.
   */
  void closed(Json.Obj reason);
}
