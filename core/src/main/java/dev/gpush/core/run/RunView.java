package dev.gpush.core.run;

import dev.gpush.core.talk.Trace;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.Phrase;
import dev.gpush.core.text.Worded;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * A run as {@code runs} shows it.
 *
 * @param header the line printed before its output
 */
public record RunView(
    int number, String session, RunKind kind, Progress progress, Launched launched, String header) {
  /** The state of a run, as far as this gateway knows. */
  public enum State implements Worded {
    STARTING,
    RUNNING,
    STOPPING,
    DONE,
    FAILED,
    STOPPED,
    /** A supervisor was killed: the end of its ranks is not known. */
    LOST,
    /** The link to a node ended before the run did. */
    UNKNOWN;

    public boolean isOver() {
      return switch (this) {
        case DONE, FAILED, STOPPED, LOST -> true;
        case STARTING, RUNNING, STOPPING, UNKNOWN -> false;
      };
    }

    public static State ended(Optional<Integer> exit, boolean isStopped) {
      if (exit.isEmpty()) {
        return LOST;
      }
      if (isStopped) {
        return STOPPED;
      }
      return exit.get() == 0 ? DONE : FAILED;
    }
  }

  /**
   * Its state and result.
   *
   * @param exit present once it ended
   * @param failure who failed first, of a run that failed or was lost
   * @param transport the network that it really uses, once that is known
   * @param trace of its start
   */
  public record Progress(
      State state,
      Optional<Integer> exit,
      Instant started,
      Optional<Instant> ended,
      Optional<RunFailure> failure,
      Optional<RunTransport> transport,
      Trace trace) {
    /** From now on; nothing has started yet. */
    public static Progress starting(Instant now) {
      return new Progress(
          State.STARTING,
          Optional.empty(),
          now,
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Trace.none());
    }

    public Progress in(State next) {
      return new Progress(next, exit, started, ended, failure, transport, trace);
    }

    public Progress with(RunTransport known) {
      return new Progress(state, exit, started, ended, failure, Optional.of(known), trace);
    }

    public Progress with(Trace start) {
      return new Progress(state, exit, started, ended, failure, transport, start);
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
    public Launched {
      words = List.copyOf(words);
      slots = List.copyOf(slots);
    }
  }

  /** This much of a command is enough to recognize it. */
  private static final int MAX_WORD = 40;

  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,6}");

  /** What to call it in a sentence: {@code run 7 (train.py, 16 ranks, 2h10m)}. */
  public String label(Duration going) {
    String what = words().isEmpty() ? "" : shortened(title().getFirst()) + ", ";
    String size = Phrase.counted(ranks(), "rank");
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
    return exit().isPresent() || state() == State.LOST;
  }

  public State state() {
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

  public Trace trace() {
    return progress.trace();
  }

  public Instant started() {
    return progress.started();
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

  /** Those on which it claims something, as far as this gpush can read its claims. */
  public SortedSet<Integer> nodes() {
    var nodes = new TreeSet<Integer>();
    for (String slot : slots()) {
      String node = slot.split(":", 2)[0];
      if (NUMBER.matcher(node).matches()) {
        nodes.add(Integer.parseInt(node));
      }
    }
    return nodes;
  }

  public long generation() {
    return launched.generation();
  }
}
