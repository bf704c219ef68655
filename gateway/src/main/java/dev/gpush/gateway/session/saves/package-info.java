/**
 * Sends saves to the nodes of a session by themselves: {@link
 * dev.gpush.gateway.session.saves.LiveSync} has one thread for each session, which sleeps until a
 * file changes; its state may be read by any.
 */
@NullMarked
package dev.gpush.gateway.session.saves;

import org.jspecify.annotations.NullMarked;
