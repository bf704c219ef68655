package dev.gpush.backends.hosts;

import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import java.io.IOException;

/** The agents of a backend's nodes, however they are reached. */
public interface NodeAgents {
  /** Asks one agent; throws with {@code NotThere} when there is none. */
  Json control(GangId gang, NodeInfo node, Json.Obj what) throws InterruptedException;

  /**
   * Starts one that holds nothing, where an agent was killed: so that it can be asked to release.
   */
  void restart(Gang gang, NodeInfo node) throws IOException;
}
