package dev.gpush.core.gang;

import dev.gpush.core.json.Json;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The two numbers of a lease that are enforced on the far side, both counted from when they are
 * said: no wall clock crosses machines.
 *
 * @param hardEnd released then whatever runs; empty: no hard end (local, ssh)
 * @param keepsHardEnd the hard end stays where it is: only the idle time is set
 * @param idle released after so long without activity (a run in progress is activity)
 * @param warnings how long before either end people are told; empty: at the agent's own lengths, or
 *     at those it was given before
 */
public record LeaseTerms(
    Optional<Duration> hardEnd, boolean keepsHardEnd, Duration idle, List<Duration> warnings) {
  /** An agent whose gateway never came to claim it lets go after this. */
  public static final Duration UNCLAIMED = Duration.ofMinutes(10);

  public LeaseTerms {
    warnings = List.copyOf(warnings);
  }

  public LeaseTerms(Optional<Duration> hardEnd, Duration idle) {
    this(hardEnd, idle, List.of());
  }

  public LeaseTerms(Optional<Duration> hardEnd, Duration idle, List<Duration> warnings) {
    this(hardEnd, false, idle, warnings);
  }

  /**
   * For a lease that exists. What is left of its time is not asked and set again: time passes
   * between, and a scheduler may refuse the difference.
   */
  public static LeaseTerms ofIdleTime(Duration idle) {
    return new LeaseTerms(Optional.empty(), true, idle, List.of());
  }

  public Json.Obj json() {
    Json.Obj always = Json.object("idle_s", idle.toSeconds(), "unclaimed_s", UNCLAIMED.toSeconds());
    Json.Obj json = keepsHardEnd ? always : always.with("hard_s", hardEnd.map(Duration::toSeconds));
    return warnings.isEmpty()
        ? json
        : json.with("warn_s", warnings.stream().map(Duration::toSeconds).toList());
  }
}
