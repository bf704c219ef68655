/**
 * The transport {@code builtin}: SSH spoken by this process, with the library sshj, for machines
 * where no ssh program is. {@code SshjConnection} opens connections: {@code SshConfig} reads what
 * the user's ssh configuration says, {@code HostKeyCheck} looks the host's key up, {@code
 * SshjLogin} offers keys of the agent and of files, and {@code UserAnswers} asks the user if one is
 * there. {@code CommandChannel} says what is done around the library's edges. Thread-safe;
 * everything blocks. Nothing of sshj is loaded before the first connection.
 */
@NullMarked
package dev.gpush.backends.transport.builtin;

import org.jspecify.annotations.NullMarked;
