package dev.gpush.core.run;

import dev.gpush.core.time.DurationText;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A run as {@code runs} shows it.
 *
 * @param header the line printed before its output
 */
public record RunView(
    int number, String session, RunKind kind, Progress progress, Launched launched, String header) {
  /** Of a program. */
  public RunView(int number, String session, Progress progress, Launched launched, String header) {
    this(number, session, RunKind.PROGRAM, progress, launched, header);
  }

  /**
   * Its state and result.
   *
   * @param state starting, running, stopping, done, failed, stopped, lost, unknown
   * @param exit present once it ended
   * @param failure who failed first, of a run that failed or was lost
   * @param transport the network that it really uses, once that is known
   */
  public record Progress(
      String state,
      Optional<Integer> exit,
      Instant started,
      Optional<Instant> ended,
      Optional<RunFailure> failure,
      Optional<RunTransport> transport) {
    /** Of a run that did not fail, as far as is known. */
    public Progress(
        String state, Optional<Integer> exit, Instant started, Optional<Instant> ended) {
      this(state, exit, started, ended, Optional.empty(), Optional.empty());
    }
  }

  /**
   * What was launched.
   *
   * @param ranks how many
   * @param slots what it claims, as {@code node:slot}
   * @param generation of the files that it started with
   * @param mode torchrun, ranks or command
   * @param fromSnapshot with files of its own, so that saves need not wait for it
   */
  public record Launched(
      List<String> words,
      int ranks,
      List<String> slots,
      long generation,
      String mode,
      String python,
      boolean fromSnapshot) {
    /** In the workspace. */
    public Launched(
        List<String> words,
        int ranks,
        List<String> slots,
        long generation,
        String mode,
        String python) {
      this(words, ranks, slots, generation, mode, python, false);
    }

    public Launched {
      words = List.copyOf(words);
      slots = List.copyOf(slots);
    }
  }

  /** This much of a command is enough to recognize it. */
  private static final int MAX_WORD = 40;

  /** What to call it in a sentence: {@code run 7 (train.py, 16 ranks, 2h10m)}. */
  public String label(Duration going) {
    String what = words().isEmpty() ? "" : shortened(title().getFirst()) + ", ";
    String size = ranks() == 1 ? "1 rank" : ranks() + " ranks";
    return "run " + number + " (" + what + size + ", " + DurationText.coarse(going) + ")";
  }

  /** What people call it: its words, of a text for the shell its name, or that it is a notebook. */
  public List<String> title() {
    return switch (kind) {
      case PROGRAM -> hasNamedText() ? List.of(words().get(3)) : oneLine(words());
      case NOTEBOOK -> List.of(kind.word());
    };
  }

  /** {@code bash -c TEXT NAME}, as a task file of SkyPilot is run. */
  private boolean hasNamedText() {
    return words().size() > 3 && words().get(1).equals("-c") && words().get(2).contains("\n");
  }

  /** Of a text of several lines only the first one that says something. */
  private static List<String> oneLine(List<String> words) {
    return words.stream()
        .map(
            word ->
                word.lines()
                    .filter(line -> !line.isBlank())
                    .findFirst()
                    .filter(_ -> word.contains("\n"))
                    .map(line -> line.strip() + " …")
                    .orElse(word))
        .toList();
  }

  /** A script's path, or a line for the shell, which may be long. */
  private static String shortened(String word) {
    return word.length() <= MAX_WORD ? word : word.substring(0, MAX_WORD - 1) + "…";
  }

  public boolean isOver() {
    return exit().isPresent() || state().equals("lost");
  }

  public String state() {
    return progress.state();
  }

  public Optional<Integer> exit() {
    return progress.exit();
  }

  public Optional<RunFailure> failure() {
    return progress.failure();
  }

  public Optional<RunTransport> transport() {
    return progress.transport();
  }

  public Instant started() {
    return progress.started();
  }

  public Optional<Instant> ended() {
    return progress.ended();
  }

  public List<String> words() {
    return launched.words();
  }

  public int ranks() {
    return launched.ranks();
  }

  public List<String> slots() {
    return launched.slots();
  }

  public long generation() {
    return launched.generation();
  }

  public String mode() {
    return launched.mode();
  }

  public String python() {
    return launched.python();
  }
}
