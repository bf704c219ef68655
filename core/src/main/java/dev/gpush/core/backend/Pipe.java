package dev.gpush.core.backend;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * A spawned command: its three streams and its end. Reading and writing block. {@link #close} ends
 * the conversation: the streams are closed and the command, which is only ever a relay or a
 * one-shot question, is ended if it has not.
 */
public interface Pipe extends AutoCloseable {
  OutputStream input();

  InputStream output();

  InputStream errors();

  /** Blocks until the command has ended; its exit status, or 255 when only the way to it broke. */
  int await() throws InterruptedException;

  @Override
  void close() throws IOException;
}
