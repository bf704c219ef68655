package dev.gpush.control.wire;

/**
 * One frame: its kind and its payload, within the kind's limit. The bytes are not copied on the way
 * in or out: the maker of a frame must not change them. A class and not a record, because two
 * frames of equal bytes are still two frames.
 */
public final class ControlFrame {
  private final Kind kind;
  private final byte[] payload;

  public ControlFrame(Kind kind, byte[] payload) {
    if (payload.length > kind.limit()) {
      throw new IllegalArgumentException(
          kind + " holds at most " + kind.limit() + " bytes, not " + payload.length);
    }
    this.kind = kind;
    this.payload = payload;
  }

  public Kind kind() {
    return kind;
  }

  public byte[] payload() {
    return payload;
  }

  /** A reader over the payload. */
  public Fields fields() {
    return new Fields(payload);
  }

  @Override
  public String toString() {
    return kind + "[" + payload.length + "]";
  }
}
