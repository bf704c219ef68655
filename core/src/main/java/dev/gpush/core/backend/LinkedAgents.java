package dev.gpush.core.backend;

import dev.gpush.core.gang.GangId;
import dev.gpush.core.json.Json;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;

/**
 * The agents to which a connection is open already: a question over it starts no process on a node.
 * It comes from the gateway that holds the gang, under its term. Thread-safe.
 */
@FunctionalInterface
public interface LinkedAgents {
  /** No agent is connected. */
  LinkedAgents NONE = (_, _, _, _) -> Map.of();

  /**
   * Asks all of these nodes at once.
   *
   * @param control the question, as docs/technical/link.md section 1 has it
   * @return the answers, by the number of the node. A node that is missing was not asked, or has
   *     not answered in time: that proves nothing, and it may be asked with a command
   */
  Map<Integer, Json> ask(GangId gang, Collection<Integer> nodes, Json.Obj control, Duration limit)
      throws InterruptedException;
}
