package dev.gpush.core.sample;

import dev.gpush.core.json.Json;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Which step a run has printed last, and how fast it makes them (docs/technical/top.md). */
public record RunProgress(Step step, Pace pace) {
  /** More earlier runs are asked of no node. */
  private static final int MOST = 8;

  /**
   * As it was printed.
   *
   * @param rank that printed it; empty: a launcher
   * @param age since it was printed
   */
  public record Step(
      Optional<Integer> rank,
      long number,
      Optional<Long> total,
      Optional<Integer> epoch,
      Duration age) {}

  /**
   * Steps a second.
   *
   * @param rate over the last minute; empty: not known, or no step is made now
   * @param median of the run so far; empty while it is too short for one
   * @param slow for how long the rate has been far below that
   * @param earlier runs before it that did the same, the newest first
   */
  public record Pace(
      Optional<Double> rate,
      Optional<Double> median,
      Optional<Duration> slow,
      List<Earlier> earlier) {
    public Pace {
      earlier = List.copyOf(earlier);
    }
  }

  /** The median of a run that is over. */
  public record Earlier(int run, double rate) {}

  /** Empty of a run that prints no steps. */
  static Optional<RunProgress> from(Json of) {
    return of.get("progress").filter(Json.Obj.class::isInstance).map(RunProgress::read);
  }

  private static RunProgress read(Json said) {
    return new RunProgress(
        new Step(
            said.integer("rank"),
            said.number("step").orElse(0L),
            said.number("total"),
            said.integer("epoch"),
            seconds(said, "age_s").orElse(Duration.ZERO)),
        new Pace(
            positive(said, "rate"),
            positive(said, "median"),
            seconds(said, "slow_s"),
            said.items("earlier").stream().limit(MOST).flatMap(RunProgress::earlier).toList()));
  }

  private static Stream<Earlier> earlier(Json said) {
    return positive(said, "rate").stream()
        .map(rate -> new Earlier(said.integer("run").orElse(0), rate));
  }

  private static Optional<Double> positive(Json said, String key) {
    return said.real(key).filter(rate -> rate > 0);
  }

  private static Optional<Duration> seconds(Json said, String key) {
    return said.real(key).map(number -> Duration.ofMillis(Math.round(number * 1000)));
  }

  /** Of several nodes: that of the lowest rank, which prints for the others in most programs. */
  public static Optional<RunProgress> lowest(Stream<RunProgress> all) {
    return all.min(Comparator.comparing(each -> each.step().rank().orElse(Integer.MAX_VALUE)));
  }
}
