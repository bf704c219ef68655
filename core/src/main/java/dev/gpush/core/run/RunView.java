package dev.gpush.core.run;

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
  public RunView {
    words = List.copyOf(words);
    slots = List.copyOf(slots);
  }

  public boolean isOver() {
    return exit.isPresent() || state.equals("lost");
  }
}
