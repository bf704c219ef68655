package dev.gpush.core.sample;

import java.time.Duration;
import java.util.List;

/** Samples of the nodes of a session, which are taken until this is closed. Thread-safe. */
public interface Samples extends AutoCloseable {
  /**
   * The newest of each node, in the order of the nodes: as soon as all that answer have sampled
   * since the last call, and at the latest after the limit. What the caller was too slow for is
   * left out.
   *
   * @throws dev.gpush.core.failure.GpushException when the session has ended
   */
  List<NodeReading> next(Duration limit) throws InterruptedException;

  @Override
  void close();
}
