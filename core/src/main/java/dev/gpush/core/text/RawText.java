package dev.gpush.core.text;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.function.IntFunction;

/**
 * Converts bytes to text and back without loss. A command line, a file name or a variable of Unix
 * is a sequence of bytes, nearly always UTF-8. Each byte that is not valid UTF-8 becomes a lone
 * surrogate, U+DC80 to U+DCFF, as with Python's {@code surrogateescape}, which the agent uses. JSON
 * carries a lone surrogate as {@code \}{@code udcxx}; an ordinary decoder would replace the byte by
 * U+FFFD, and a command would use another file than the one that was named.
 */
public final class RawText {
  private static final char FIRST = '\udc80';
  private static final char LAST = '\udcff';

  /** What is added to a byte from 0x80 on. */
  private static final int OFFSET = 0xdc00;

  private static final char REPLACEMENT = '\ufffd';

  private RawText() {}

  public static String decode(byte[] bytes) {
    return decode(bytes, 0, bytes.length);
  }

  public static String decode(byte[] bytes, int offset, int length) {
    String text = new String(bytes, offset, length, StandardCharsets.UTF_8);
    return text.indexOf(REPLACEMENT) < 0 ? text : escaped(ByteBuffer.wrap(bytes, offset, length));
  }

  private static String escaped(ByteBuffer bytes) {
    CharsetDecoder decoder =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
    CharBuffer text = CharBuffer.allocate(bytes.remaining());
    CoderResult result = decoder.decode(bytes, text, true);
    while (result.isError()) {
      text.put((char) (OFFSET + Byte.toUnsignedInt(bytes.get())));
      result = decoder.reset().decode(bytes, text, true);
    }
    return text.flip().toString();
  }

  /**
   * The bytes that {@link #decode} was given. A half of a surrogate pair that stands for no byte
   * becomes a question mark.
   */
  public static byte[] encode(String text) {
    int next = nextEscape(text, 0);
    if (next < 0) {
      return text.getBytes(StandardCharsets.UTF_8);
    }
    ByteBuffer bytes = ByteBuffer.allocate(3 * text.length());
    int done = 0;
    while (next >= 0) {
      bytes.put(text.substring(done, next).getBytes(StandardCharsets.UTF_8));
      bytes.put((byte) (text.charAt(next) - OFFSET));
      done = next + 1;
      next = nextEscape(text, done);
    }
    bytes.put(text.substring(done).getBytes(StandardCharsets.UTF_8));
    var exact = new byte[bytes.flip().remaining()];
    bytes.get(exact);
    return exact;
  }

  /** Whether all of it is UTF-8. */
  public static boolean isUtf8(String text) {
    return nextEscape(text, 0) < 0;
  }

  /** The text with each byte that is not UTF-8 replaced; these bytes are from 128 to 255. */
  public static String mapBytes(String text, IntFunction<String> instead) {
    var mapped = new StringBuilder();
    int done = 0;
    for (int next = nextEscape(text, 0); next >= 0; next = nextEscape(text, done)) {
      mapped.append(text, done, next).append(instead.apply(text.charAt(next) - OFFSET));
      done = next + 1;
    }
    return mapped.append(text, done, text.length()).toString();
  }

  /** Where the next byte stands that is not UTF-8; -1 when there is none. */
  private static int nextEscape(String text, int from) {
    for (int at = from; at < text.length(); at++) {
      char c = text.charAt(at);
      boolean isSecondHalf = at > 0 && Character.isHighSurrogate(text.charAt(at - 1));
      if (c >= FIRST && c <= LAST && !isSecondHalf) {
        return at;
      }
    }
    return -1;
  }
}
