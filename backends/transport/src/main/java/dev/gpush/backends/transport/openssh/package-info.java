/**
 * The transport {@code openssh}: the user's own ssh, one in the background for each connection, and
 * a short-lived one for each command on it ({@code SshCommands}). {@code Diagnosis} says why it
 * could not connect.
 */
@NullMarked
package dev.gpush.backends.transport.openssh;

import org.jspecify.annotations.NullMarked;
