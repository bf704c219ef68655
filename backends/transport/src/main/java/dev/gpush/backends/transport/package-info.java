/**
 * Ways to machines by ssh, for backends to stand on; sees none of them. {@code Transport} makes a
 * {@code RemoteMachine} of a {@code Destination}. {@code OpenSsh} runs the user's own ssh: one
 * shared connection per machine ({@code Masters}), a short-lived ssh for each command on it ({@code
 * MarkedPipe} drops what login shells print before), {@code CommandText} says the same arguments to
 * every shell, {@code Diagnosis} tells why ssh failed. {@code builtin.Builtin} needs no ssh
 * program; {@code Ways} says which of the two leads to a host. Thread-safe; everything blocks.
 */
@NullMarked
package dev.gpush.backends.transport;

import org.jspecify.annotations.NullMarked;
