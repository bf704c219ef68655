/**
 * One client's connection beside its channels: its limits, its listeners, the order of its replies.
 * From the ssh user name to a node: {@code Routes} is the port that the sessions implement, {@code
 * Connections} opens streams to the node, {@code SshMessages} has the reason when that fails.
 */
@NullMarked
package dev.gpush.ssh.connection;

import org.jspecify.annotations.NullMarked;
