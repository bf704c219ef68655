package dev.gpush.core.run;

import dev.gpush.core.time.DurationText;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A run as {@code runs} shows it.
 *
 * @param state starting, running, stopping, done, failed, stopped, lost, unknown
 * @param exit present once it ended
 * @param slots what it claims, as {@code node:slot}
 * @param mode torchrun, ranks or command
 * @param header the line printed before its output
 */
public record RunView(
    int number,
    String session,
    String state,
    Optional<Integer> exit,
    List<String> words,
    Instant started,
    Optional<Instant> ended,
    int ranks,
    List<String> slots,
    long generation,
    String mode,
    String python,
    String header) {
  /** So much of a command says which one it is. */
  private static final int MAX_WORD = 40;

  public RunView {
    words = List.copyOf(words);
    slots = List.copyOf(slots);
  }

  /** What to call it in a sentence: {@code run 7 (train.py, 16 ranks, 2h10m)}. */
  public String label(Duration going) {
    String what = words.isEmpty() ? "" : shortened(words.getFirst()) + ", ";
    String size = ranks == 1 ? "1 rank" : ranks + " ranks";
    return "run " + number + " (" + what + size + ", " + DurationText.coarse(going) + ")";
  }

  /** A script's path, or a line for the shell, which may be long. */
  private static String shortened(String word) {
    return word.length() <= MAX_WORD ? word : word.substring(0, MAX_WORD - 1) + "…";
  }

  public boolean isOver() {
    return exit.isPresent() || state.equals("lost");
  }
}
