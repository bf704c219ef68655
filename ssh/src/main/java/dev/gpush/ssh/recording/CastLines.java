package dev.gpush.ssh.recording;

import dev.gpush.core.json.Json;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;

/**
 * Turns the output of one terminal into lines of asciicast v2, so that its bytes can be had again.
 *
 * <p>A line is text in JSON. A character that is cut at the end of a piece waits for its rest.
 * Bytes that are no UTF-8 have no place in JSON: players get U+FFFD for each of them, and a line
 * with the code {@code b} before it has the exact bytes of that line in base64. Players skip codes
 * that they do not know. Escaping the bytes as lone surrogates would need no line more, but some
 * players refuse the whole file then.
 *
 * <p>Not thread-safe.
 */
final class CastLines {
  private static final byte[] TAIL = ascii("\"]\n");

  /** Eight bytes at once. */
  private static final VarHandle WORDS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final long ONES = 0x0101010101010101L;
  private static final long HIGH_BITS = 0x8080808080808080L;

  /** Bytes that are escaped into room for the longest that they may become. */
  private static final int BLOCK = 4 << 10;

  private static final int LONGEST = "\\u0000".length();

  /** What stands for each character of ASCII, as a word, and how many bytes of it. */
  private static final long[] ESCAPED = new long[0x80];

  private static final int[] LENGTHS = new int[0x80];
  private static final long UNKNOWN = word("\ufffd");
  private static final int UNKNOWN_LENGTH = 3;

  static {
    for (int code = 0; code < 0x80; code++) {
      escape(code, code < ' ' ? "\\u%04x".formatted(code) : Character.toString(code));
    }
    escape('\r', "\\r");
    escape('\n', "\\n");
    escape('\t', "\\t");
    escape('\b', "\\b");
    escape('"', "\\\"");
    escape('\\', "\\\\");
  }

  private final long began;
  private final GrowingBytes out;
  private byte[] cut = new byte[0];

  /**
   * @param began the time of the first line, in nanoseconds
   */
  CastLines(long began, GrowingBytes out) {
    this.began = began;
    this.out = out;
  }

  private static void escape(int code, String text) {
    ESCAPED[code] = word(text);
    LENGTHS[code] = text.length();
  }

  private static long word(String text) {
    return (long) WORDS.get(Arrays.copyOf(text.getBytes(StandardCharsets.UTF_8), Long.BYTES), 0);
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** The first line of the file. */
  static String header(RecordedTerminal terminal, Instant time) {
    return Json.object(
                "version", 2,
                "width", terminal.size().columns(),
                "height", terminal.size().rows(),
                "timestamp", time.getEpochSecond(),
                "title", terminal.person() + " on " + terminal.node(),
                "env", Json.object("TERM", terminal.type()))
            .write()
        + "\n";
  }

  void output(long nanos, ByteBuffer piece) {
    byte[] bytes = afterCut(piece);
    int end = bytes.length - Utf8.cutAtEnd(bytes);
    cut = Arrays.copyOfRange(bytes, end, bytes.length);
    write(nanos, bytes, end);
  }

  private byte[] afterCut(ByteBuffer piece) {
    boolean isWhole = piece.hasArray() && piece.arrayOffset() + piece.position() == 0;
    if (cut.length == 0 && isWhole && piece.remaining() == piece.array().length) {
      return piece.array();
    }
    byte[] bytes = Arrays.copyOf(cut, cut.length + piece.remaining());
    piece.get(bytes, cut.length, piece.remaining());
    return bytes;
  }

  /** Bytes before this that were not written out will not be. */
  void forget() {
    cut = new byte[0];
  }

  /** Nothing follows, or not at once: a character that is cut stays cut. */
  void end(long nanos) {
    byte[] rest = cut;
    cut = new byte[0];
    write(nanos, rest, rest.length);
  }

  void resized(long nanos, RecordedTerminal.Size size) {
    line(nanos, 'r', ascii(size.columns() + "x" + size.rows()));
  }

  /** A marker that players show. */
  void mark(long nanos, String text) {
    line(nanos, 'm', text.getBytes(StandardCharsets.UTF_8));
  }

  private void write(long nanos, byte[] bytes, int end) {
    if (end == 0) {
      return;
    }
    int before = out.size();
    head(nanos, 'o');
    boolean isExact = escape(bytes, end);
    out.add(TAIL);
    if (!isExact) {
      byte[] line = out.cut(before);
      byte[] exact = end == bytes.length ? bytes : Arrays.copyOf(bytes, end);
      line(nanos, 'b', Base64.getEncoder().encode(exact));
      out.add(line);
    }
  }

  private void line(long nanos, char code, byte[] escaped) {
    head(nanos, code);
    out.add(escaped);
    out.add(TAIL);
  }

  private void head(long nanos, char code) {
    long micros = (nanos - began) / 1_000;
    // Digits behind the point: a million is taken off again.
    String fraction = Long.toString(1_000_000 + micros % 1_000_000).substring(1);
    out.add("[" + micros / 1_000_000 + "." + fraction + ", \"" + code + "\", \"");
  }

  /** False when there are bytes that are no text. */
  private boolean escape(byte[] bytes, int end) {
    boolean isExact = true;
    for (int at = 0; at < end; ) {
      byte[] to = out.withRoom(LONGEST * (BLOCK + Long.BYTES) + Long.BYTES);
      int size = out.size();
      int limit = Math.min(end, at + BLOCK);
      while (at < limit) {
        if (end - at >= Long.BYTES) {
          long word = (long) WORDS.get(bytes, at);
          WORDS.set(to, size, word);
          long others = others(word);
          int plain = Long.numberOfTrailingZeros(others) / Byte.SIZE;
          at += plain;
          size += plain;
          if (others == 0) {
            continue;
          }
        }
        if (bytes[at] >= 0) {
          WORDS.set(to, size, ESCAPED[bytes[at]]);
          size += LENGTHS[bytes[at]];
          at++;
          continue;
        }
        int length = Utf8.length(bytes, at, end);
        if (length == 0) {
          WORDS.set(to, size, UNKNOWN);
          size += UNKNOWN_LENGTH;
          isExact = false;
          at++;
        }
        for (int i = 0; i < length; i++) {
          to[size++] = bytes[at++];
        }
      }
      out.grownTo(size);
    }
    return isExact;
  }

  /**
   * The high bits of those of these eight bytes that do not stand for themselves. With its high bit
   * set a byte can be reduced without taking from its neighbour, and loses the bit if it was
   * smaller.
   */
  private static long others(long word) {
    long control = (word | HIGH_BITS) - (' ' * ONES);
    long quote = ((word ^ ('"' * ONES)) | HIGH_BITS) - ONES;
    long backslash = ((word ^ ('\\' * ONES)) | HIGH_BITS) - ONES;
    return (word | ~(control & quote & backslash)) & HIGH_BITS;
  }
}
