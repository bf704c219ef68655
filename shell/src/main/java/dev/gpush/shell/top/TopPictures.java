package dev.gpush.shell.top;

import dev.gpush.core.run.Runs;
import dev.gpush.core.sample.NodeReading;
import dev.gpush.core.sample.Samples;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.task.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Samples and the runs that they are of, as long as it is open. */
public final class TopPictures implements AutoCloseable {
  /** Two samples make a rate; a picture of one moment should not take a second. */
  public static final Duration BRIEF = Duration.ofMillis(500);

  /** A node that has not answered by then is shown without numbers. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final Runs runs;
  private final Clock clock;
  private final SessionView session;
  private final Samples samples;
  private final Duration interval;

  /**
   * Begins to sample.
   *
   * @param node empty: all
   */
  public TopPictures(
      Runs runs, Clock clock, SessionView session, Optional<Integer> node, Duration interval) {
    this.runs = runs;
    this.clock = clock;
    this.session = session;
    this.interval = interval;
    this.samples = runs.sample(session.name(), node, interval);
  }

  public TopPicture next() throws InterruptedException {
    return of(samples.next(interval.plus(BRIEF)));
  }

  /** With rates of all nodes that answer. */
  public TopPicture settled() throws InterruptedException {
    long end = clock.nanos() + PATIENCE.toNanos();
    List<NodeReading> readings = samples.next(PATIENCE);
    while (readings.stream().anyMatch(TopPictures::isAwaited) && clock.nanos() - end < 0) {
      readings = samples.next(interval.plus(BRIEF));
    }
    return of(readings);
  }

  private static boolean isAwaited(NodeReading reading) {
    boolean hasRates =
        reading.sample().filter(each -> each.host().cpuPercent().isPresent()).isPresent();
    return !hasRates && reading.isLinked() && reading.problem().isEmpty();
  }

  private TopPicture of(List<NodeReading> readings) {
    return new TopPicture(
        session.name() + "  " + session.shape(),
        interval,
        clock.now(),
        readings,
        runs.list(session.name()));
  }

  @Override
  public void close() {
    samples.close();
  }
}
