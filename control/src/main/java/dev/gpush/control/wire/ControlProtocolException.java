package dev.gpush.control.wire;

import java.io.IOException;

/**
 * The other end sent something that the protocol does not have. The connection cannot be used any
 * longer.
 */
public final class ControlProtocolException extends IOException {
  public ControlProtocolException(String message) {
    super(message);
  }
}
