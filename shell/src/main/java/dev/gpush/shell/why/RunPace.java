package dev.gpush.shell.why;

import dev.gpush.core.sample.NodeStacks;
import dev.gpush.core.sample.RunProgress;
import dev.gpush.core.sample.RunProgress.Earlier;
import dev.gpush.core.task.DurationText;
import dev.gpush.shell.top.ProgressText;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Whether a run is slow: against its own median, else against the last run that did the same with
 * the same files.
 */
record RunPace(Optional<RunProgress> progress) {
  /** Of the rate of an earlier run; nodes judge by the same share of the run's own. */
  private static final double SHARE = 0.7;

  /** How long ranks are looked at: a step that was printed meanwhile is of this moment. */
  private static final long LOOK_MILLIS = 1000;

  static RunPace of(List<NodeStacks> nodes) {
    return new RunPace(
        RunProgress.lowest(nodes.stream().flatMap(node -> node.progress().stream())));
  }

  /** "is slow: 4.03 steps/s for 3m, 67% slower than its median of 12.1 steps/s". */
  Optional<String> slow() {
    return progress
        .map(RunProgress::pace)
        .flatMap(
            pace ->
                pace.rate()
                    .flatMap(
                        rate -> againstItself(pace, rate).or(() -> againstEarlier(pace, rate))))
        .map(text -> "is slow: " + text);
  }

  /** Its newest step is as young as it is in a run of this rate, so the next one is not late. */
  boolean goesOn() {
    return progress
        .filter(
            each ->
                each.pace()
                    .rate()
                    .filter(
                        rate ->
                            each.step().age().toMillis() <= Math.max(LOOK_MILLIS, 2 * 1000 / rate))
                    .isPresent())
        .isPresent();
  }

  /** Not only since a moment of its own: what is so since it began may be why. */
  boolean isSlowFromItsBeginning() {
    return progress
        .map(RunProgress::pace)
        .flatMap(
            pace ->
                pace.rate()
                    .filter(rate -> againstItself(pace, rate).isEmpty())
                    .flatMap(rate -> againstEarlier(pace, rate)))
        .isPresent();
  }

  private static Optional<String> againstItself(RunProgress.Pace pace, double rate) {
    return pace.slow()
        .flatMap(
            time ->
                pace.median()
                    .map(
                        median ->
                            ProgressText.pace(rate)
                                + " for "
                                + DurationText.of(time)
                                + by(rate, median)
                                + "its median of "
                                + ProgressText.pace(median, rate)));
  }

  /** Only where it has been so from its beginning on. */
  private static Optional<String> againstEarlier(RunProgress.Pace pace, double rate) {
    return pace.earlier().stream()
        .filter(Earlier::sameFiles)
        .findFirst()
        .filter(each -> rate < SHARE * each.rate())
        .filter(each -> pace.median().filter(own -> own < SHARE * each.rate()).isPresent())
        .map(
            each ->
                ProgressText.pace(rate)
                    + by(rate, each.rate())
                    + "the "
                    + ProgressText.pace(each.rate(), rate)
                    + " of run "
                    + each.run()
                    + ", which had the same files and arguments");
  }

  private static String by(double rate, double from) {
    return ", " + ProgressText.difference(rate, from) + " than ";
  }

  List<String> evidence() {
    var lines = new ArrayList<String>();
    progress
        .map(
            each ->
                slow().isPresent()
                    ? "its newest step is " + ProgressText.step(each.step())
                    : ProgressText.sentence(each))
        .ifPresent(lines::add);
    List<String> earlier =
        progress.stream()
            .flatMap(each -> each.pace().earlier().stream())
            .map(RunPace::text)
            .toList();
    if (!earlier.isEmpty()) {
      lines.add("earlier, with the same arguments: " + String.join("; ", earlier));
    }
    return lines;
  }

  private static String text(Earlier each) {
    String files = each.sameFiles() ? "" : ", with other files";
    return "run " + each.run() + " made " + ProgressText.pace(each.rate()) + files;
  }
}
