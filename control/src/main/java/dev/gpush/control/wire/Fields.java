package dev.gpush.control.wire;

import dev.gpush.core.text.RawText;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the fields of a payload in order; every count is checked against the bytes that are left
 * before anything is made of it.
 */
public final class Fields {
  private final ByteBuffer bytes;

  Fields(byte[] payload) {
    this.bytes = ByteBuffer.wrap(payload);
  }

  public int number() throws ControlProtocolException {
    try {
      return bytes.getInt();
    } catch (BufferUnderflowException tooShort) {
      throw new ControlProtocolException("payload ends inside a number");
    }
  }

  /** A number from 0 to this one. */
  public int count(int most) throws ControlProtocolException {
    int number = number();
    if (number < 0 || number > most) {
      throw new ControlProtocolException(number + " where at most " + most + " can be");
    }
    return number;
  }

  public long longNumber() throws ControlProtocolException {
    try {
      return bytes.getLong();
    } catch (BufferUnderflowException tooShort) {
      throw new ControlProtocolException("payload ends inside a number");
    }
  }

  public boolean flag() throws ControlProtocolException {
    if (!bytes.hasRemaining()) {
      throw new ControlProtocolException("payload ends before a flag");
    }
    return switch (bytes.get()) {
      case 0 -> false;
      case 1 -> true;
      default -> throw new ControlProtocolException("a flag is 0 or 1");
    };
  }

  public String text() throws ControlProtocolException {
    int length = number();
    if (length < 0 || length > bytes.remaining()) {
      throw new ControlProtocolException(
          "text of " + length + " bytes where " + bytes.remaining() + " are left");
    }
    String text = RawText.decode(bytes.array(), bytes.position(), length);
    bytes.position(bytes.position() + length);
    return text;
  }

  public List<String> texts() throws ControlProtocolException {
    int count = count();
    var texts = new ArrayList<String>(count);
    for (int i = 0; i < count; i++) {
      texts.add(text());
    }
    return texts;
  }

  public Map<String, String> map() throws ControlProtocolException {
    int count = count();
    var map = new LinkedHashMap<String, String>();
    for (int i = 0; i < count; i++) {
      map.put(text(), text());
    }
    return map;
  }

  /** Checks that everything was read; bytes that are left are an error. */
  public void end() throws ControlProtocolException {
    if (bytes.hasRemaining()) {
      throw new ControlProtocolException(bytes.remaining() + " bytes too many");
    }
  }

  private int count() throws ControlProtocolException {
    int count = number();
    // The shortest text takes four bytes.
    if (count < 0 || count > bytes.remaining() / Integer.BYTES) {
      throw new ControlProtocolException(
          "a list of " + count + " where " + bytes.remaining() + " bytes are left");
    }
    return count;
  }
}
