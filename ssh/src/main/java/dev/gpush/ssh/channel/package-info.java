/**
 * The kinds of channels: a program on a node ({@code SessionChannel}), a connection to it ({@code
 * DialChannel}), a connection back to the client ({@code ReturnChannel}). Their bytes are moved by
 * {@code flow}.
 */
@NullMarked
package dev.gpush.ssh.channel;

import org.jspecify.annotations.NullMarked;
