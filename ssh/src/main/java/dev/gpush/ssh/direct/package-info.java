/**
 * A node that is this machine: bytes of its servers ({@code LoopbackDial}), of sftp ({@code
 * ProgramSocket}) and of commands in bulk ({@code DirectPipes}) pass neither the link nor the
 * agent. The agent starts and ends everything as for any node, and is told how many bytes have
 * passed. Sockets are served by the reading thread of the client's connection; a pipe has a thread,
 * because Java can only wait for one pipe at a time.
 */
@NullMarked
package dev.gpush.ssh.direct;

import org.jspecify.annotations.NullMarked;
