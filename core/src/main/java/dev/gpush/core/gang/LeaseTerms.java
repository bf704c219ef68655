package dev.gpush.core.gang;

import dev.gpush.core.json.Json;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The two limits of a lease, which the agents and the backend enforce. Both are durations counted
 * from when they arrive, so no wall clock is compared.
 *
 * @param hardEnd the gang is released then whatever runs; empty: no hard end (local, ssh)
 * @param keepsHardEnd the hard end stays where it is: only the idle time is set
 * @param idle the gang is released after this time without activity (a run in progress is activity)
 * @param warnings how long before either end terminals are warned; empty: the agent's own defaults,
 *     or those it was given before
 */
public record LeaseTerms(
    Optional<Duration> hardEnd, boolean keepsHardEnd, Duration idle, List<Duration> warnings) {
  private static final String WARNINGS = "warn_s";

  /** An agent that no gateway has claimed ends after this time. */
  public static final Duration UNCLAIMED = Duration.ofMinutes(10);

  /** Agents of an earlier gpush do not say theirs; they have these unless a user chose others. */
  private static final List<Duration> USUAL_WARNINGS =
      List.of(Duration.ofMinutes(30), Duration.ofMinutes(15), Duration.ofMinutes(5));

  /** An agent refuses more. */
  private static final int MAX_WARNINGS = 16;

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
   * For an existing lease: the hard end stays. Reading what is left and setting it again would
   * change it, because time passes in between, and a scheduler may refuse that.
   */
  public static LeaseTerms ofIdleTime(Duration idle) {
    return new LeaseTerms(Optional.empty(), true, idle, List.of());
  }

  /** The warnings that an agent gives by itself, from its status. */
  public static List<Duration> warnings(Json status) {
    return status.get(WARNINGS).map(LeaseTerms::lengths).orElse(USUAL_WARNINGS);
  }

  /** A list of seconds. */
  public static List<Duration> lengths(Json seconds) {
    return seconds.items().stream()
        .limit(MAX_WARNINGS)
        .flatMap(each -> each.asReal().stream())
        .map(each -> Duration.ofMillis((long) (each * 1000)))
        .toList();
  }

  public Json.Obj json() {
    Json.Obj always = Json.object("idle_s", idle.toSeconds(), "unclaimed_s", UNCLAIMED.toSeconds());
    Json.Obj json = keepsHardEnd ? always : always.with("hard_s", hardEnd.map(Duration::toSeconds));
    return warnings.isEmpty()
        ? json
        : json.with(WARNINGS, warnings.stream().map(Duration::toSeconds).toList());
  }
}
