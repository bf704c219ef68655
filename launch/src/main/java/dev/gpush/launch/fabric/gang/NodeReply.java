package dev.gpush.launch.fabric.gang;

import dev.gpush.core.json.Json;

/** What one node says when it is asked for its facts. */
sealed interface NodeReply {
  /** Its facts, as the agent gives them. */
  record Known(Json facts) implements NodeReply {}

  /** None, because {@code why}: what stands behind {@code node 1:}. */
  record Silent(String why) implements NodeReply {}
}
