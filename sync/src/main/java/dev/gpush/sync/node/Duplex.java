package dev.gpush.sync.node;

import java.io.Closeable;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * A conversation with the node's {@code files} program. Both streams block, and end with an {@code
 * IOException} when the thread is interrupted or the far end is gone. What is written must arrive
 * without {@code flush} on this side being forgotten: callers flush.
 */
public interface Duplex extends Closeable {
  InputStream in();

  OutputStream out();
}
