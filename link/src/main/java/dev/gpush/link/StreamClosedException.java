package dev.gpush.link;

import java.io.IOException;

/** The data cannot be sent: the stream was closed by one side, or the link is over. */
public final class StreamClosedException extends IOException {
  private static final long serialVersionUID = 1;

  StreamClosedException(String reason) {
    super(reason);
  }
}
