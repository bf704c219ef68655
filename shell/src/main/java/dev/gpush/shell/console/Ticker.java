package dev.gpush.shell.console;

import dev.gpush.core.task.Tasks;
import java.time.Duration;

/** Calls back now and then, for whatever shows the passing of time. */
public interface Ticker {
  /** Starts calling on a thread of its own, until closed. */
  Ticking start(Runnable tick);

  /** Calls that go on until closed. */
  interface Ticking extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Ten times a second: what appears after half a second appears in time, and seconds change
   * evenly.
   */
  static Ticker tenth() {
    return tick -> {
      Tasks tasks = Tasks.named("progress", (_, _) -> {});
      tasks.start(
          "tick",
          () -> {
            try {
              while (true) {
                Thread.sleep(Duration.ofMillis(100));
                tick.run();
              }
            } catch (InterruptedException over) {
              Thread.currentThread().interrupt();
            }
          });
      return tasks::close;
    };
  }
}
