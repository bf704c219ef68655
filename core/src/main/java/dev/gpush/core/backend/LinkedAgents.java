package dev.gpush.core.backend;

import dev.gpush.core.gang.GangId;
import dev.gpush.core.json.Json;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;

/**
 * The agents to which a connection is open already: a question over it starts nothing on a node.
 * What such an agent is asked, it is asked by the gateway that holds the gang, under its term.
 * Thread-safe.
 */
@FunctionalInterface
public interface LinkedAgents {
  /** Nobody is connected. */
  LinkedAgents NONE = (_, _, _, _) -> Map.of();

  /**
   * Asks all of these nodes at once.
   *
   * @param control the question, as docs/technical/link.md section 1 has it
   * @return what was answered, by the number of the node. A node that is not in it was not asked,
   *     or has not answered in time: nothing follows from that, and it may be asked in another way
   */
  Map<Integer, Json> ask(GangId gang, Collection<Integer> nodes, Json.Obj control, Duration limit)
      throws InterruptedException;
}
