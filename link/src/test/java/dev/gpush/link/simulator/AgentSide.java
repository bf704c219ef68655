package dev.gpush.link.simulator;

import dev.gpush.core.json.Json;
import java.util.List;

/**
 * The agent's end of the link as the simulator drives it: bytes of pipes, the time, and what the
 * owners of streams do. Two implementations, which must do the same: {@link ModelAgent} and {@link
 * PythonAgent}.
 */
interface AgentSide extends AutoCloseable {
  /** What an owner of a stream is told. */
  enum Kind {
    OFFERED,
    DATA,
    END,
    MESSAGE,
    CLOSE,
    CUT,
    OPENED,
    REFUSED
  }

  /** One such event; channel, bytes and JSON where the kind has them. */
  record Told(Kind kind, int stream, int channel, byte[] bytes, Json.Obj json) {}

  /** What one link of an agent holds. */
  record Holds(int streams, int keptFrames, long bytes) {}

  /**
   * The sizes that the agent has as constants.
   *
   * @param window the first receive window of a stream
   * @param small the same when the pool is used up
   * @param largest what it may grow to
   * @param pool all windows, and all that is queued or kept
   * @param queue how far one stream may read ahead
   */
  record Sizes(int window, int small, int largest, int pool, int queue) {}

  /** A new process of the agent: nothing of the old one is left. */
  void start(String identity, Sizes sizes);

  void connected(int pipe, long nanos);

  void received(int pipe, byte[] bytes, long nanos);

  void disconnected(int pipe, long nanos);

  /** Bytes for this pipe; none when there is nothing to write. */
  byte[] take(int pipe, long nanos);

  /** Whether the agent has not closed this pipe. */
  boolean isOpen(int pipe);

  /** When an acknowledgement is due; {@link Long#MAX_VALUE} for never. */
  long ackNanos();

  void ping(long token);

  /** What owners were told since the last call. */
  List<Told> told();

  Holds holds();

  // ---- the owners of streams

  void accept(int stream);

  void refuse(int stream, String code);

  int room(int stream);

  void send(int stream, int channel, byte[] bytes);

  void end(int stream, int channel);

  void message(int stream, Json.Obj message, boolean urgent);

  void closeStream(int stream, Json.Obj reason);

  void consumed(int stream, int count, long nanos);

  int open(Json.Obj request);

  @Override
  void close();
}
