package dev.gpush.link;

import dev.gpush.core.json.Json;

/**
 * How this gateway identifies itself to the agent.
 *
 * @param node the node's number in its gang, for failures
 * @param holder the gateway that holds the gang; the agent compares the whole text
 * @param incarnation 32 hex digits of this gateway process: the same one resumes
 * @param term a lower one than the agent has seen is refused
 */
public record LinkIdentity(int node, String holder, String incarnation, long term) {
  /** As in the agent's core/version.py: an agent refuses any other. */
  private static final int VERSION = 2;

  public LinkIdentity {
    if (!incarnation.matches("[0-9a-f]{32}")) {
      throw new IllegalArgumentException("incarnation is 32 hex digits, not " + incarnation);
    }
    if (term < 0 || node < 0) {
      throw new IllegalArgumentException("term and node count from 0: " + term + ", " + node);
    }
  }

  /** The fields of HELLO that are the same on every pipe. */
  Json.Obj hello() {
    return Json.object(
        "version", VERSION,
        "holder", holder,
        "incarnation", incarnation,
        "term", term);
  }
}
