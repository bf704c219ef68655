package dev.gpush.link.simulator.agent;

import dev.gpush.core.json.Json;
import java.util.List;

/**
 * The agent's end of the link as the simulator drives it: bytes of pipes, the time, and what the
 * owners of streams do. Two implementations, which must do the same: {@link ModelAgent} and {@link
 * PythonAgent}.
 */
public interface AgentSide extends AutoCloseable {
  /** The loop does not watch this source: it found no room and nothing has woken it. */
  int NOT_WATCHED = -1;

  /** The source was read to its end. */
  int AT_END = -2;

  /** What the owner of a stream is called for. */
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

  /** One such call; channel, bytes and JSON where the kind has them. */
  record OwnerEvent(Kind kind, int stream, int channel, byte[] bytes, Json.Obj json) {}

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
   * @param burst what is written at once
   * @param chunk what a source reads at once
   */
  record Sizes(int window, int small, int largest, int pool, int queue, int burst, int chunk) {}

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

  /** What owners were called for since the last call. */
  List<OwnerEvent> events();

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

  /**
   * Opens a stream of the agent.
   *
   * @param hasSources see {@link #startSources}, which happens as soon as the stream is accepted
   */
  int open(Json.Obj request, boolean hasSources);

  /** The stream sends what two sources give, one for each channel, as those of a command. */
  void startSources(int stream);

  /**
   * There is something to read for a source.
   *
   * @param ready what could be read now
   * @param isAtEnd whether nothing comes behind that
   * @return how many bytes were read, {@link #NOT_WATCHED} or {@link #AT_END}
   */
  int readSource(int stream, int channel, byte[] ready, boolean isAtEnd);

  @Override
  void close();
}
