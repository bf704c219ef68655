/**
 * One client's connection beside its channels: its limits, its listeners, the order of its replies.
 */
@NullMarked
package dev.gpush.ssh.connection;

import org.jspecify.annotations.NullMarked;
