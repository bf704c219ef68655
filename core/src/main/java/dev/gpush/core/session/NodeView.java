package dev.gpush.core.session;

import dev.gpush.core.gang.NodeInfo;
import java.util.Optional;

/**
 * A node as {@code nodes} shows it.
 *
 * @param link up, cut, over, refused, needs you
 * @param generation the generation that it holds, 0 before the first push; empty while it is not
 *     known here
 * @param claimed slots claimed by runs, out of info.slots
 * @param activity what keeps it, or since when nothing does, in words; empty while it is not known
 */
public record NodeView(
    NodeInfo info,
    String link,
    Optional<Long> generation,
    int claimed,
    String python,
    long agentPid,
    String activity) {
  /** Of a node that has not said what it does. */
  public NodeView(
      NodeInfo info,
      String link,
      Optional<Long> generation,
      int claimed,
      String python,
      long agentPid) {
    this(info, link, generation, claimed, python, agentPid, "");
  }
}
