package dev.gpush.gateway.ssh.recording;

import dev.gpush.core.json.Json;
import java.nio.ByteBuffer;
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
  private static final byte[] UNKNOWN = "\ufffd".getBytes(StandardCharsets.UTF_8);
  private static final byte[] TAIL = ascii("\"]\n");

  /** Of each character of ASCII; empty when it stands for itself. */
  private static final byte[][] ESCAPED = new byte[0x80][0];

  static {
    for (int code = 0; code < ' '; code++) {
      ESCAPED[code] = ascii("\\u%04x".formatted(code));
    }
    ESCAPED['\r'] = ascii("\\r");
    ESCAPED['\n'] = ascii("\\n");
    ESCAPED['\t'] = ascii("\\t");
    ESCAPED['\b'] = ascii("\\b");
    ESCAPED['"'] = ascii("\\\"");
    ESCAPED['\\'] = ascii("\\\\");
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
    byte[] bytes = Arrays.copyOf(cut, cut.length + piece.remaining());
    piece.get(bytes, cut.length, piece.remaining());
    int end = bytes.length - Utf8.cutAtEnd(bytes);
    cut = Arrays.copyOfRange(bytes, end, bytes.length);
    write(nanos, bytes, end);
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
    int plain = 0;
    int at = 0;
    while (at < end) {
      if (bytes[at] >= 0 && ESCAPED[bytes[at]].length == 0) {
        at++;
        continue;
      }
      int length = Utf8.length(bytes, at, end);
      if (length > 1) {
        at += length;
        continue;
      }
      out.add(bytes, plain, at - plain);
      out.add(length == 1 ? ESCAPED[bytes[at]] : UNKNOWN);
      isExact &= length == 1;
      at++;
      plain = at;
    }
    out.add(bytes, plain, end - plain);
    return isExact;
  }
}
