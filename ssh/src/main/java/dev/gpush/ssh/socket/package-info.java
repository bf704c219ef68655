/**
 * The sockets under SSHD. SSHD's own sockets pass every packet to another thread before it is
 * written, which costs a context switch for each keystroke and each 32 KiB of a download; these
 * write at once on the thread that has the packet, and leave only what the kernel does not accept
 * to the connection's own thread.
 */
@NullMarked
package dev.gpush.ssh.socket;

import org.jspecify.annotations.NullMarked;
