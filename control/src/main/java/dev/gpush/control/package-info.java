/**
 * The control socket: how a command on the user's terminal is carried out inside the gateway.
 *
 * <p>{@code wire} is the protocol, {@code place} says where the socket is, {@code client} the
 * user's end (JDK only, quick to start) and {@code server} the gateway's end. The protocol is
 * specified in docs/technical/control.md.
 */
@NullMarked
package dev.gpush.control;

import org.jspecify.annotations.NullMarked;
