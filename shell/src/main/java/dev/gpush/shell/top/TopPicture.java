package dev.gpush.shell.top;

import dev.gpush.core.run.RunView;
import dev.gpush.core.sample.NodeReading;
import dev.gpush.core.sample.RunProgress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What there is to show.
 *
 * @param title the session and its shape
 * @param runs those in progress
 */
public record TopPicture(
    String title, Duration interval, Instant now, List<NodeReading> nodes, List<RunView> runs) {
  /** A node is called silent after it has missed this number of samples. */
  private static final int MISSED = 3;

  private static final Duration LEAST = Duration.ofSeconds(3);

  public TopPicture {
    nodes = List.copyOf(nodes);
    runs = runs.stream().filter(run -> !run.isOver()).toList();
  }

  /** Samples that are older say nothing of now. */
  public Duration oldest() {
    Duration most = interval.multipliedBy(MISSED);
    return most.compareTo(LEAST) > 0 ? most : LEAST;
  }

  /** Of a run that prints steps, as nodes say that answer. */
  public Optional<RunProgress> progress(int run) {
    return RunProgress.lowest(
        nodes.stream()
            .filter(reading -> reading.isFresh(oldest()))
            .flatMap(reading -> reading.sample().stream())
            .flatMap(sample -> Optional.ofNullable(sample.progress().get(run)).stream()));
  }

  /** The run that has claimed a GPU. */
  public Optional<Integer> runOn(int node, String slot) {
    String claim = node + ":" + slot;
    return runs.stream()
        .filter(run -> run.slots().contains(claim))
        .map(RunView::number)
        .findFirst();
  }
}
