/**
 * What this machine and hosts behind ssh have in common. A node is an agent that holds its locks
 * and ends with its lease, so there is no state here: what exists is what agents answer. {@code
 * AgentCalls} starts, lists and asks them, {@code NodeAgents} is how a backend reaches those of its
 * gangs, {@code HostGangs} observes, renews and discovers gangs, {@code GangRelease} gives them
 * back. Thread-safe; everything blocks.
 */
@NullMarked
package dev.gpush.backends.hosts;

import org.jspecify.annotations.NullMarked;
