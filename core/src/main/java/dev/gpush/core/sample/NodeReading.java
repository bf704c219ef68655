package dev.gpush.core.sample;

import dev.gpush.core.gang.NodeInfo;
import java.time.Duration;
import java.util.Optional;

/**
 * The newest that is known of a node.
 *
 * @param link up, cut, over, refused, idle
 * @param age of the sample; empty while there is none
 * @param problem why no sample comes; empty when nothing is known to be wrong
 */
public record NodeReading(
    NodeInfo node,
    String link,
    Optional<NodeSample> sample,
    Optional<Duration> age,
    String problem) {
  private static final String UP = "up";

  /** Whether what it does now is known. */
  public boolean isFresh(Duration oldest) {
    return age.filter(time -> time.compareTo(oldest) <= 0).isPresent();
  }

  public boolean isLinked() {
    return link.equals(UP);
  }
}
