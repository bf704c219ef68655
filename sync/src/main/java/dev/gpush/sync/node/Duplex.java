package dev.gpush.sync.node;

import java.io.Closeable;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * A conversation with the node's {@code files} program. Both streams block, and end with an {@code
 * IOException} when the thread is interrupted or the node's end is gone. Callers must flush.
 */
public interface Duplex extends Closeable {
  InputStream in();

  OutputStream out();
}
