package dev.gpush.ssh.direct;

import dev.gpush.core.time.Clock;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * Counts the bytes of a channel that do not pass the agent, and reports them to it, because they
 * are a sign of work. Few reports: one for each KiB and at most one a second. Questions over HTTP
 * and their answers do not count, as in the agent (streams/traffic.py). Thread-safe.
 */
public final class PassedBytes {
  /** What each piece of a forwarded connection counts more, as in the agent. */
  static final int PIECE = 48;

  private static final int UNIT = 1 << 10;
  private static final long BETWEEN_NANOS = 1_000_000_000L;
  private static final List<String> QUESTIONS = List.of("GET ", "HEAD ", "OPTIONS ");

  private final int piece;
  private final IntConsumer report;
  private final Clock clock;

  // guarded by this
  private long unreported;
  private long lastNanos;
  private boolean asks;

  /**
   * @param piece what each piece counts besides its bytes
   * @param report is told how many bytes have passed since it was last called
   */
  PassedBytes(int piece, IntConsumer report, Clock clock) {
    this.piece = piece;
    this.report = report;
    this.clock = clock;
    this.lastNanos = clock.nanos() - BETWEEN_NANOS;
  }

  /** From the client. */
  void came(ByteBuffer bytes) {
    long nanos = clock.nanos();
    int due;
    synchronized (this) {
      asks = QUESTIONS.stream().anyMatch(question -> begins(bytes, question));
      due = count(bytes.remaining(), nanos);
    }
    report(due);
  }

  /** To the client. */
  void went(int count) {
    long nanos = clock.nanos();
    int due;
    synchronized (this) {
      due = asks ? 0 : count(count, nanos);
    }
    report(due);
  }

  private int count(int more, long nanos) {
    unreported += piece + more;
    if (unreported < UNIT || nanos - lastNanos < BETWEEN_NANOS) {
      return 0;
    }
    lastNanos = nanos;
    long due = unreported;
    unreported = 0;
    return (int) Math.min(due, Integer.MAX_VALUE);
  }

  private void report(int due) {
    if (due > 0) {
      report.accept(due);
    }
  }

  private static boolean begins(ByteBuffer bytes, String question) {
    byte[] words = question.getBytes(StandardCharsets.US_ASCII);
    return bytes.remaining() >= words.length
        && bytes.slice(bytes.position(), words.length).equals(ByteBuffer.wrap(words));
  }
}
