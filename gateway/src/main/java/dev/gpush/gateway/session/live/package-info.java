/**
 * Sessions in this process. {@code LiveSession} is one of them, {@code SessionRegistry} finds them
 * by name and folder, {@code TurnQueue} lets one command at a time change one, {@code SharedTalk}
 * and {@code PendingRequest} let any number of commands follow its making, {@code SessionWork} is
 * its files, runs and forwarded ports once its nodes are linked. Thread-safe.
 */
@NullMarked
package dev.gpush.gateway.session.live;

import org.jspecify.annotations.NullMarked;
