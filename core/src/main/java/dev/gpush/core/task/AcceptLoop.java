package dev.gpush.core.task;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Accepts connections until the listener is closed, whatever fails meanwhile: without a free
 * descriptor or thread, say, each attempt fails until some connection ends. For one thread.
 */
public final class AcceptLoop {
  /** Trying again at once would only use processor time. */
  static final Duration PAUSE = Duration.ofMillis(100);

  /** Of failures that go on, one in this time is reported. */
  static final Duration QUIET = Duration.ofMinutes(1);

  private final Clock clock;
  private final Consumer<Throwable> report;
  private Optional<Long> reported = Optional.empty();

  /** Accepts one connection. */
  @FunctionalInterface
  public interface Step {
    void run() throws IOException, InterruptedException;
  }

  public AcceptLoop(Clock clock, Consumer<Throwable> report) {
    this.clock = clock;
    this.report = report;
  }

  public void run(BooleanSupplier isOpen, Step acceptOne) throws InterruptedException {
    while (isOpen.getAsBoolean()) {
      try {
        acceptOne.run();
      } catch (IOException | RuntimeException | Error failed) {
        if (isOpen.getAsBoolean()) {
          pauseAfter(failed);
        }
      }
    }
  }

  private void pauseAfter(Throwable failed) throws InterruptedException {
    long now = clock.nanos();
    if (reported.filter(last -> now - last < QUIET.toNanos()).isEmpty()) {
      reported = Optional.of(now);
      report.accept(failed);
    }
    clock.sleep(PAUSE);
  }
}
