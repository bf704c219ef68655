package dev.gpush.shell.console;

import dev.gpush.core.task.Tasks;
import java.time.Duration;

/** Calls back regularly, for progress that shows time. */
public interface Ticker {
  /** Starts calling on its own thread, until closed. */
  Ticking start(Runnable tick);

  /** Calls that go on until closed. */
  interface Ticking extends AutoCloseable {
    @Override
    void close();
  }

  /** Ten times a second: a progress line appears in time, and its seconds change evenly. */
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
