package dev.gpush.core.backend;

import dev.gpush.core.gang.NodeInfo;

/**
 * A node whose agent was replaced by another one.
 *
 * @param why the former one has ended: words without a subject before them ("its container was
 *     killed …"); empty when the backend does not know
 * @param now the node as it is now: on some backends another machine replaces a lost one
 */
public record AgentRestart(String why, NodeInfo now) {}
