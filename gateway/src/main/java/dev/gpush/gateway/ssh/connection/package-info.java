/**
 * What belongs to one client's connection beside its channels: what it may cost, what listens for
 * it, the order of its replies.
 */
@NullMarked
package dev.gpush.gateway.ssh.connection;

import org.jspecify.annotations.NullMarked;
