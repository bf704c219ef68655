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
 */
public record NodeView(
    NodeInfo info,
    String link,
    Optional<Long> generation,
    int claimed,
    String python,
    long agentPid) {}
