package dev.gpush.core.talk;

import dev.gpush.core.talk.Trace.Phase;
import dev.gpush.core.talk.Trace.Stage;
import dev.gpush.core.task.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Measures the {@link Talk#phase phases} of a start while it shows them. Each moment counts for one
 * phase, the innermost. The step of a phase that took most of it says what took the time.
 * Thread-safe.
 */
public final class TracedTalk extends TalkAround {
  private final Clock clock;
  private final Duration before;
  private final long begun;

  // guarded by this; by stages, so that retries do not make it grow, in the order of their begin
  private final Map<Stage, Phase> ended = new LinkedHashMap<>();
  private final List<Timed> open = new ArrayList<>();

  public TracedTalk(Talk talk, Clock clock) {
    super(talk);
    this.clock = clock;
    this.before = Duration.ZERO;
    this.begun = clock.nanos();
  }

  /**
   * Of a request that has been in a queue already.
   *
   * @param queued for how long
   */
  public TracedTalk(Talk talk, Clock clock, Duration queued) {
    super(talk);
    this.clock = clock;
    this.before = queued.isNegative() ? Duration.ZERO : queued;
    this.begun = clock.nanos();
    ended.put(Stage.QUEUE, new Phase(Stage.QUEUE, before, "waiting in the queue"));
  }

  @Override
  public Step phase(Stage stage, String what) {
    var phase = new Timed(Optional.of(stage), super.step(what), what);
    synchronized (this) {
      ended.putIfAbsent(stage, new Phase(stage, Duration.ZERO, what));
      open.add(phase);
    }
    return phase;
  }

  @Override
  public Step step(String what) {
    var step = new Timed(Optional.empty(), super.step(what), what);
    synchronized (this) {
      if (!open.isEmpty()) {
        open.getLast().steps.add(step);
      }
    }
    return step;
  }

  /** Until now, also of the phase that is not over. */
  @Override
  public synchronized Trace trace() {
    var all = new LinkedHashMap<>(ended);
    Duration within = Duration.ZERO;
    for (Timed phase : open.reversed()) {
      Duration took = phase.took();
      Phase known = phase.phase(phase.stage.orElseThrow(), took.minus(within));
      all.merge(known.stage(), known, Phase::and);
      within = took;
    }
    return new Trace(before.plus(since(begun)), List.copyOf(all.values()));
  }

  private Duration since(long nanos) {
    return Duration.ofNanos(clock.nanos() - nanos);
  }

  /** A step is what its phase waited for, if it took most of that. */
  private synchronized void end(Timed step) {
    if (!open.remove(step)) {
      open.stream().filter(phase -> phase.steps.remove(step)).forEach(phase -> phase.hear(step));
      return;
    }
    Duration took = step.took();
    step.stage.ifPresent(stage -> ended.merge(stage, step.phase(stage, took), Phase::and));
    if (!open.isEmpty()) {
      open.getLast().inner = open.getLast().inner.plus(took);
    }
  }

  /** A step, or a phase. What changes is guarded by the talk, but for the detail. */
  private final class Timed implements Step {
    private final Optional<Stage> stage;
    private final Step shown;
    private final String what;
    private final long start = clock.nanos();
    private volatile String detail = "";
    private final List<Timed> steps = new ArrayList<>();
    private Duration inner = Duration.ZERO;
    private Duration longest = Duration.ZERO;
    private String heard = "";

    Timed(Optional<Stage> stage, Step shown, String what) {
      this.stage = stage;
      this.shown = shown;
      this.what = what;
    }

    Duration took() {
      return since(start);
    }

    String words() {
      return detail.isEmpty() ? what : what + ": " + detail;
    }

    void hear(Timed step) {
      Duration time = step.took();
      if (time.compareTo(longest) > 0) {
        longest = time;
        heard = step.words();
      }
    }

    /**
     * @param whole with the phases within it that are over
     */
    Phase phase(Stage named, Duration whole) {
      steps.forEach(this::hear);
      Duration time = whole.minus(inner);
      boolean isOfStep = longest.multipliedBy(2).compareTo(time) > 0;
      return new Phase(named, time, isOfStep ? heard : words());
    }

    @Override
    public void show(HowFar far) {
      detail = far.text();
      shown.show(far);
    }

    @Override
    public void close() {
      end(this);
      shown.close();
    }
  }
}
