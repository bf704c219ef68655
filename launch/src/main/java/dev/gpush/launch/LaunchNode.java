package dev.gpush.launch;

import dev.gpush.core.backend.NodeInfo;

/** A node of the session and the way to it. */
public record LaunchNode(NodeInfo info, NodeCalls calls) {}
