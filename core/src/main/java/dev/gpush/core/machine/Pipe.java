package dev.gpush.core.machine;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;

/**
 * A spawned command: its three streams and its end. Reading and writing block. {@link #close} ends
 * it: the streams are closed and the command, which is only ever a relay or a one-shot question, is
 * ended if it still runs.
 */
public interface Pipe extends AutoCloseable {
  OutputStream input();

  /**
   * Writes all of a few bytes at once if that needs no waiting; may be called by one thread at a
   * time, and not while another writes to {@link #input}.
   *
   * @return false when nothing was written: the pipe is full, or cannot tell
   * @throws IOException when it broke, perhaps in the middle: it can no longer be used
   */
  default boolean offer(ByteBuffer bytes) throws IOException {
    return false;
  }

  /**
   * Whether something in between sends about a KiB at a time, and holds a small piece back until
   * the one before it was acknowledged: sockets with Nagle's algorithm, such as those of {@code
   * srun}, wait up to 40 ms for that.
   */
  default boolean holdsBack() {
    return false;
  }

  /** Whether this pipe leads to an agent on this machine, and nothing is in between. */
  default boolean isHere() {
    return false;
  }

  InputStream output();

  InputStream errors();

  /**
   * Blocks until the command has ended; its exit status, or 255 when only the connection to it
   * broke.
   */
  int await() throws InterruptedException;

  @Override
  void close() throws IOException;
}
