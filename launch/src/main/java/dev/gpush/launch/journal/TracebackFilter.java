package dev.gpush.launch.journal;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Finds two things among the lines that one process writes to stderr: tracebacks, which are given
 * as a whole, and what torchrun's elastic agent says of ranks that failed (its log lines, its own
 * traceback, its report) and Open MPI of a race that harms nothing. Lines that are neither pass at
 * once; those of a traceback wait for its end, which follows within the same write. One thread.
 */
final class TracebackFilter {
  /** Takes what was found, in order. */
  interface Found {
    void line(byte[] line);

    /** A traceback; the last line names the exception. */
    void traceback(List<byte[]> lines);

    /** What a launcher says about failed ranks, which the verdict has, or about nothing. */
    void launcher(byte[] line);
  }

  /** A longer one is given as it comes: it may never end. */
  private static final int MOST_LINES = 500;

  private static final String HEAD = "Traceback (most recent call last):";
  private static final Pattern PREFIX = Pattern.compile("^\\[rank\\d+\\]: ?");
  private static final Pattern ELASTIC_LOG =
      Pattern.compile("^[WEI]\\d{4} [\\d:.]+ +\\d+ .*torch/distributed/(elastic|run|launcher).*");
  private static final Pattern OF_LAUNCHERS =
      Pattern.compile(
          ".*(ChildFailedError|torch\\.distributed\\.elastic\\.\\S*(Error|Exception)|SignalException).*");

  /** Its child was faster than Open MPI, and the daemon runs all the same. */
  private static final Pattern RACE_OF_MPI =
      Pattern.compile("(\\[.*])? ?plm:\\w+: Warning: setpgid\\(\\d+,\\d+\\) failed in parent.*");

  private static final Pattern RULE = Pattern.compile("={20,}");

  /** The report of a launcher is between two rules. */
  private static final int RULES_OF_REPORT = 2;

  private final Found found;
  private final List<byte[]> block = new ArrayList<>();
  private int rulesLeft;

  TracebackFilter(Found found) {
    this.found = found;
  }

  void line(byte[] line) {
    String text = text(line);
    if (!block.isEmpty()) {
      block.add(line);
      if (text.endsWith(HEAD)) {
        return;
      }
      if (!text.isEmpty() && !Character.isWhitespace(text.charAt(0))) {
        complete(text);
      } else if (block.size() >= MOST_LINES) {
        end();
      }
      return;
    }
    if (text.endsWith(HEAD)) {
      block.add(line);
    } else if (rulesLeft > 0) {
      rulesLeft -= RULE.matcher(text).matches() ? 1 : 0;
      found.launcher(line);
    } else if (ELASTIC_LOG.matcher(text).matches() || RACE_OF_MPI.matcher(text).matches()) {
      found.launcher(line);
    } else {
      found.line(line);
    }
  }

  private void complete(String last) {
    if (OF_LAUNCHERS.matcher(last).matches()) {
      block.forEach(found::launcher);
      rulesLeft = last.contains("ChildFailedError") ? RULES_OF_REPORT : 0;
    } else {
      found.traceback(List.copyOf(block));
    }
    block.clear();
  }

  /** Nothing more comes. */
  void end() {
    block.forEach(found::line);
    block.clear();
  }

  /** Without what differs from rank to rank. */
  static String text(byte[] line) {
    String text = new String(line, StandardCharsets.UTF_8);
    return PREFIX.matcher(text).replaceFirst("").replaceFirst("\r$", "");
  }
}
