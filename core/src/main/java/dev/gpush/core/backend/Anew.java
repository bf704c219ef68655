package dev.gpush.core.backend;

import dev.gpush.core.gang.NodeInfo;

/**
 * A node whose agent is another one than before.
 *
 * @param why the former one has ended: words without a subject before them ("its container was
 *     killed …"); empty where nobody there knows
 * @param now what the node is since then: on some backends another machine comes for one that is
 *     lost
 */
public record Anew(String why, NodeInfo now) {}
