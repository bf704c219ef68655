package dev.gpush.sync.pace;

import dev.gpush.core.task.Clock;
import dev.gpush.core.task.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * One step of an operation, which several nodes take at once: who has not finished it, and how long
 * the others have been waiting. Nodes are known by their numbers. Thread-safe.
 */
public final class NodeStep {
  private final Clock clock;
  private final int all;

  // guarded by this
  private final Map<Integer, NodeWaiting> left;
  private Optional<Long> waitingSince = Optional.empty();

  /**
   * A node that holds up the operation.
   *
   * @param why a clause about "it"
   */
  public record Slow(int node, String why) {}

  /**
   * @param all how many nodes take part in the operation
   * @param left those for which this step waits
   */
  NodeStep(int all, Map<Integer, NodeWaiting> left, Clock clock) {
    this.clock = clock;
    this.all = all;
    this.left = new LinkedHashMap<>(left);
    noteOthers();
  }

  // holds this, but for the constructor
  private void noteOthers() {
    if (2 * (all - left.size()) >= all && waitingSince.isEmpty()) {
      waitingSince = Optional.of(clock.nanos());
    }
  }

  /** The node has finished, or failed. */
  public synchronized void done(int node) {
    left.remove(node);
    noteOthers();
  }

  synchronized List<Integer> left() {
    return List.copyOf(left.keySet());
  }

  /**
   * Nodes that have been silent for longer than their limit, or have kept half of all waiting for
   * longer than that, although they do something.
   */
  synchronized List<Slow> slow(Function<Integer, Duration> limits) {
    Duration wait =
        waitingSince.map(since -> Duration.ofNanos(clock.nanos() - since)).orElse(Duration.ZERO);
    var slow = new ArrayList<Slow>();
    left.forEach(
        (node, waiting) -> {
          Duration limit = limits.apply(node);
          if (waiting.time().compareTo(limit) >= 0) {
            slow.add(new Slow(node, "has not answered for " + DurationText.of(limit)));
          } else if (wait.compareTo(limit) >= 0) {
            slow.add(new Slow(node, "is " + DurationText.of(limit) + " later than the others"));
          }
        });
    return slow;
  }
}
