/**
 * The kinds of channels: a program on a node ({@code SessionChannel}), a connection to it ({@code
 * DialChannel}), a connection back to the client ({@code ReturnChannel}). {@code Inlet} moves the
 * client's bytes to a stream of the node's link, {@code Outlet} the node's to the client. Nothing
 * here blocks.
 */
@NullMarked
package dev.gpush.ssh.channel;

import org.jspecify.annotations.NullMarked;
