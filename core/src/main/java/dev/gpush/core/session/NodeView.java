package dev.gpush.core.session;

import dev.gpush.core.backend.NodeInfo;

/**
 * A node as {@code nodes} shows it.
 *
 * @param link up, cut, over, refused, needs you
 * @param generation what it holds, 0 when nothing yet
 * @param claimed slots claimed by runs, out of info.slots
 */
public record NodeView(
    NodeInfo info, String link, long generation, int claimed, String python, long agentPid) {}
