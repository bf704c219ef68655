/**
 * Machines behind ssh, for backends to stand on; sees none of them. {@code Transport} makes a
 * {@code RemoteMachine} of a {@code Destination}; that of ssh is {@code SshMachine}, whose commands
 * share connections of an {@code SshClient}: {@code openssh} runs the user's own ssh, {@code
 * builtin} needs no ssh program, and {@code TransportSelector} says which of them leads to a host.
 * {@code CommandText} says the same arguments to every shell, {@code MarkedPipe} drops what login
 * shells print before. Thread-safe; everything blocks.
 */
@NullMarked
package dev.gpush.backends.transport;

import org.jspecify.annotations.NullMarked;
