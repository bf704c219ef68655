package dev.gpush.shell.command.run;

import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunOutput;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** Keeps the last lines of what it is given. */
final class LastLines implements RunOutput {
  /** From before the end of a run on: what was printed earlier says less. */
  static final Duration SPAN = Duration.ofMinutes(10);

  private static final int MOST = 12;

  private final Deque<String> lines = new ArrayDeque<>();

  @Override
  public void line(int node, int rank, boolean error, byte[] text) {
    if (lines.size() == MOST) {
      lines.removeFirst();
    }
    lines.addLast(new String(text, StandardCharsets.UTF_8));
  }

  @Override
  public void restarting(int node, RunFailure failure, int restart, int most) {
    lines.clear();
  }

  @Override
  public void event(int node, String text) {
    // Of the launcher, and said by the sentence of the failure.
  }

  List<String> taken() {
    return List.copyOf(lines);
  }
}
