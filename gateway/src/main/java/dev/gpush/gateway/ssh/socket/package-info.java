/**
 * The sockets under SSHD. Its own hand every packet to another thread before it is written, which
 * costs a switch of task for each keystroke and each 32 KiB of a download; ours write at once on
 * the thread that has the packet, and leave only what the kernel does not take to a thread of the
 * connection's own.
 */
@NullMarked
package dev.gpush.gateway.ssh.socket;

import org.jspecify.annotations.NullMarked;
