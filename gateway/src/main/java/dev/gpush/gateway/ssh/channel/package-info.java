/**
 * The kinds of channels: a program on a node ({@code SessionChannel}), a connection to it ({@code
 * DialChannel}), a connection back to the client ({@code ReturnChannel}). {@code Inlet} and {@code
 * Outlet} connect a channel with a stream of the node's link; neither blocks.
 */
@NullMarked
package dev.gpush.gateway.ssh.channel;

import org.jspecify.annotations.NullMarked;
