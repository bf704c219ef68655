/**
 * The transport {@code builtin}: SSH spoken by this process, where there is no ssh program or it is
 * not wanted. {@code Builtin} gives {@code BuiltinMachine}s; each has logged-in connections ({@code
 * SshConnection}) that {@code Dialer} opens: what the user's ssh configuration says is read by
 * {@code SshConfig}, host keys are compared by {@code KnownHosts}, {@code SshLogin} offers keys of
 * the agent and of files, and asks a person where there is one. The library is sshj; what is done
 * around its edges is said in {@code CommandChannel}. Thread-safe; everything blocks, callbacks of
 * the library only hand over. Nothing of sshj is loaded before the first connection.
 */
@NullMarked
package dev.gpush.backends.transport.builtin;

import org.jspecify.annotations.NullMarked;
