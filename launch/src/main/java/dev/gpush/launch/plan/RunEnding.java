package dev.gpush.launch.plan;

import dev.gpush.core.config.Config;
import java.time.Duration;
import java.util.Optional;

/**
 * How the ranks of a run are ended.
 *
 * @param warning what they get before the nodes go
 * @param grace from the first failure of a rank to the end by force of all others ({@code
 *     run.grace})
 */
public record RunEnding(Optional<RunWarning> warning, Duration grace) {
  /** Short, because ranks that wait for a dead one wait for minutes. */
  private static final Duration GRACE = Duration.ofSeconds(3);

  /** As the project wants it. */
  public static RunEnding of(Config config) {
    return new RunEnding(
        config.text("run.warn").map(RunWarning::parse),
        config.number("run.grace").map(Duration::ofSeconds).orElse(GRACE));
  }

  /** Where nothing else is configured. */
  public static RunEnding usual() {
    return new RunEnding(Optional.empty(), GRACE);
  }
}
