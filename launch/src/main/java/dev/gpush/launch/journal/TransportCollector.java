package dev.gpush.launch.journal;

import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.run.RunTransport;
import java.util.Optional;
import java.util.TreeMap;

/** Gathers what the nodes of one try of a run say, until all have. Thread-safe. */
public final class TransportCollector {
  private final Optional<FabricPlan> plan;
  private final int expected;

  // guarded by this
  private final TreeMap<Integer, NodeTransport> said = new TreeMap<>();
  private boolean isGiven;

  /**
   * @param expected how many nodes will say it
   */
  public TransportCollector(Optional<FabricPlan> plan, int expected) {
    this.plan = plan;
    this.expected = expected;
  }

  /** The verdict, once: with the last node. */
  public synchronized Optional<RunTransport> take(int node, NodeTransport facts) {
    said.put(node, facts);
    return said.size() >= expected ? rest() : Optional.empty();
  }

  /** The run is over: the verdict of those that said it, unless it was given. */
  public synchronized Optional<RunTransport> rest() {
    if (said.isEmpty() || isGiven) {
      return Optional.empty();
    }
    isGiven = true;
    return Optional.of(TransportVerdict.of(plan, said));
  }
}
