package dev.gpush.control.wire;

import java.io.IOException;

/**
 * The other end sent something that the protocol does not have. The connection is of no more use.
 */
public final class ProtocolException extends IOException {
  public ProtocolException(String message) {
    super(message);
  }
}
