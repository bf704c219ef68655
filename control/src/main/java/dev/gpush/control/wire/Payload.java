package dev.gpush.control.wire;

import dev.gpush.core.text.RawText;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Builds a payload field by field: numbers in network order, text as length and bytes, which are
 * UTF-8 unless the user's own were not ({@link RawText}). The counterpart of {@link Fields}.
 */
public final class Payload {
  private byte[] bytes = new byte[256];
  private int size;

  public Payload number(int value) {
    room(Integer.BYTES);
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes[size++] = (byte) (value >>> shift);
    }
    return this;
  }

  public Payload longNumber(long value) {
    return number((int) (value >>> 32)).number((int) value);
  }

  public Payload flag(boolean value) {
    room(1);
    bytes[size++] = (byte) (value ? 1 : 0);
    return this;
  }

  public Payload text(String value) {
    byte[] encoded = RawText.encode(value);
    number(encoded.length);
    room(encoded.length);
    System.arraycopy(encoded, 0, bytes, size, encoded.length);
    size += encoded.length;
    return this;
  }

  public Payload texts(List<String> values) {
    number(values.size());
    for (String value : values) {
      text(value);
    }
    return this;
  }

  public Payload map(Map<String, String> values) {
    number(values.size());
    for (Map.Entry<String, String> entry : values.entrySet()) {
      text(entry.getKey()).text(entry.getValue());
    }
    return this;
  }

  public ControlFrame frame(Kind kind) {
    return new ControlFrame(kind, Arrays.copyOf(bytes, size));
  }

  private void room(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
    }
  }
}
