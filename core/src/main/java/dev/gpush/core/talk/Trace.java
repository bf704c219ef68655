package dev.gpush.core.talk;

import dev.gpush.core.json.Json;
import dev.gpush.core.text.Clean;
import dev.gpush.core.text.Worded;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * How long the start of a session or of a run took, by phases in their order. What it took besides
 * is in no phase.
 *
 * @param took the whole
 */
public record Trace(Duration took, List<Phase> phases) {
  /** What a start waits for; {@link #word} is promised. */
  public enum Stage implements Worded {
    /** The answers of the backends. */
    PLAN,
    QUEUE,
    /** Nodes that a backend has now. */
    RESERVE,
    /** The agents and the links to them. */
    AGENTS,
    /** Of a run: its session, which may have to be made. */
    SESSION,
    WORKSPACE,
    /** With its setup. */
    ENVIRONMENT,
    PYTHON,
    /** What the nodes say of their network. */
    NETWORK,
    /** GPUs that other runs have. */
    SLOTS,
    RANKS,
    /** From the start of the ranks to the first that one of them prints. */
    OUTPUT
  }

  /**
   * One phase.
   *
   * @param what took the time, as the user saw it while waiting
   */
  public record Phase(Stage stage, Duration took, String what) {
    public Phase {
      took = Duration.ofMillis(took.toMillis());
      what = Clean.line(what);
    }

    /** With another phase of the same stage. */
    Phase and(Phase other) {
      return new Phase(
          stage, took.plus(other.took), took.compareTo(other.took) < 0 ? other.what : what);
    }

    private Json.Obj json() {
      return Json.object("phase", stage.word(), "ms", took.toMillis(), "what", what);
    }

    private static Optional<Phase> from(Json json) {
      return Worded.of(Stage.class, json.text("phase").orElse(""))
          .map(stage -> new Phase(stage, millis(json, "ms"), json.text("what").orElse("")));
    }
  }

  public Trace {
    took = Duration.ofMillis(took.toMillis());
    phases = List.copyOf(phases);
  }

  /** Of what was started by an older gateway, or elsewhere. */
  public static Trace none() {
    return new Trace(Duration.ZERO, List.of());
  }

  public boolean isEmpty() {
    return phases.isEmpty();
  }

  public Optional<Phase> slowest() {
    return phases.stream().max(Comparator.comparing(Phase::took));
  }

  public Optional<Phase> phase(Stage stage) {
    return phases.stream().filter(each -> each.stage() == stage).findFirst();
  }

  /** What is in no phase. */
  public Duration rest() {
    return phases.stream().map(Phase::took).reduce(took, Duration::minus);
  }

  /** With a phase that came after it, for the one of the same stage. */
  public Trace with(Phase last) {
    Duration before = phase(last.stage()).map(Phase::took).map(took::minus).orElse(took);
    var all = new ArrayList<>(phases);
    all.removeIf(each -> each.stage() == last.stage());
    all.add(last);
    return new Trace(before.plus(last.took()), all);
  }

  public Json.Obj json() {
    return Json.object(
        "took_ms", took.toMillis(), "phases", phases.stream().map(Phase::json).toList());
  }

  /** Reads what {@link #json} wrote; phases that only a newer version knows are left out. */
  public static Trace from(Json json) {
    return new Trace(
        millis(json, "took_ms"),
        json.items("phases").stream().flatMap(each -> Phase.from(each).stream()).toList());
  }

  private static Duration millis(Json json, String key) {
    return Duration.ofMillis(json.number(key).orElse(0L));
  }
}
