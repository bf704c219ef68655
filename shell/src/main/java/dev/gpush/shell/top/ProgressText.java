package dev.gpush.shell.top;

import dev.gpush.core.sample.RunProgress;
import dev.gpush.core.task.DurationText;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/** Steps and their rates in words. */
public final class ProgressText {
  /** What is less is noise. */
  private static final int LEAST_PERCENT = 5;

  /** Without a step for so long, the screen says since when. */
  private static final Duration QUIET = Duration.ofSeconds(10);

  private ProgressText() {}

  /** {@code 120/938 of epoch 3}. */
  public static String step(RunProgress.Step step) {
    return step.number()
        + step.total().map(total -> "/" + total).orElse("")
        + step.epoch().map(epoch -> " of epoch " + epoch).orElse("");
  }

  /** {@code 11.9/s}, or {@code 1.52s/step}. */
  static String rate(double rate) {
    return rate >= 1 ? number(rate) + "/s" : number(1 / rate) + "s/step";
  }

  /** {@code 11.9 steps/s}, or {@code 1.52s/step}. */
  public static String pace(double rate) {
    return pace(rate, rate);
  }

  /** In the unit in which another rate is given. */
  public static String pace(double rate, double like) {
    return like >= 1 ? number(rate) + " steps/s" : number(1 / rate) + "s/step";
  }

  private static String number(double number) {
    String form = number < 9.995 ? "%.2f" : number < 99.95 ? "%.1f" : "%.0f";
    return String.format(Locale.ROOT, form, number);
  }

  /** {@code 8% slower}. */
  public static String difference(double rate, double from) {
    return percent(rate, from) + (rate < from ? "% slower" : "% faster");
  }

  private static long percent(double rate, double from) {
    return Math.round(Math.abs(rate / from - 1) * 100);
  }

  /** Empty if it is about the same. */
  private static Optional<String> noted(double rate, double from) {
    return percent(rate, from) < LEAST_PERCENT
        ? Optional.empty()
        : Optional.of(difference(rate, from));
  }

  /** Against its median; or since when it has made no step. */
  static String trend(RunProgress progress) {
    RunProgress.Pace pace = progress.pace();
    if (pace.rate().isEmpty()) {
      Duration age = progress.step().age();
      return age.compareTo(QUIET) < 0 ? "" : "no step for " + DurationText.coarse(age);
    }
    return pace.median()
        .map(median -> noted(pace.rate().get(), median).orElse("steady"))
        .orElse("");
  }

  /** {@code step 1200, 11.9 steps/s, 8% slower than its median of 12.9 steps/s}. */
  public static String sentence(RunProgress progress) {
    RunProgress.Pace pace = progress.pace();
    String step = "step " + step(progress.step());
    if (pace.rate().isEmpty()) {
      String age = DurationText.of(progress.step().age());
      return "its last step, " + step(progress.step()) + ", was printed " + age + " ago";
    }
    String median =
        pace.median()
            .map(
                usual ->
                    noted(pace.rate().get(), usual)
                        .map(
                            by ->
                                ", " + by + " than its median of " + pace(usual, pace.rate().get()))
                        .orElse(", the same as its median"))
            .orElse("");
    return step + ", " + pace(pace.rate().get()) + median;
  }
}
