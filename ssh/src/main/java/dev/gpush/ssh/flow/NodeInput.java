package dev.gpush.ssh.flow;

import dev.gpush.core.json.Json;
import dev.gpush.link.LinkStream;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Where bytes from the client go: a stream of the node's link, or a socket on this machine. */
public interface NodeInput {
  /**
   * Takes as many bytes as there is room for, possibly none, and moves the buffer's position.
   *
   * @throws IOException when nothing more is accepted
   */
  int trySend(ByteBuffer bytes) throws IOException;

  /** Runs this once, as soon as {@link #trySend} would take something or would throw. */
  void onWritable(Runnable action);

  /** Nothing more will be sent. */
  void end();

  /** Nothing more will be sent or received. */
  void close();

  /** Whether the bytes of {@link #trySend} may change after it has returned. */
  boolean hasCopied();

  static NodeInput of(LinkStream stream) {
    return new OfLink(stream);
  }

  /** Keeps the bytes: they may have to be sent a second time on the next pipe. */
  record OfLink(LinkStream stream) implements NodeInput {
    private static final int MAIN = 0;

    @Override
    public int trySend(ByteBuffer bytes) throws IOException {
      return stream.trySend(MAIN, bytes);
    }

    @Override
    public void onWritable(Runnable action) {
      stream.onWritable(action);
    }

    @Override
    public void end() {
      stream.end(MAIN);
    }

    @Override
    public void close() {
      stream.close(Json.object());
    }

    @Override
    public boolean hasCopied() {
      return false;
    }
  }
}
