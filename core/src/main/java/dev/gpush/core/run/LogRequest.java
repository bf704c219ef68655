package dev.gpush.core.run;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * Which part of a run's output is asked for.
 *
 * @param ranks only these; empty: all; -1: only what torchrun or accelerate say themselves
 * @param follow until the run ends, not only what there is now
 * @param since only what was printed in this time up to now; empty: from the beginning
 */
public record LogRequest(Set<Integer> ranks, boolean follow, Optional<Duration> since) {
  public LogRequest {
    ranks = Set.copyOf(ranks);
  }
}
