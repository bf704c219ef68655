/**
 * The life of sessions: asked → queued → granted → ready ⇄ degraded → releasing → released, or
 * leaked. {@code GatewaySessions} is all of them behind core's {@code Sessions} port, and builds
 * the parts; {@code GatewayRuns} implements {@code Runs}, {@code SessionRoutes} the SSH server's
 * {@code Routes}; {@code Recovery} is what a new gateway does with the ledger of the one before it.
 * The parts lie below, each using only those before it: {@code ledger}, {@code live}, {@code
 * links}, {@code placement}, {@code lifecycle}. {@code SessionViews} is what users are shown.
 *
 * <p>Threads: every command comes on a virtual thread of its own; a session's changes are guarded
 * by its own lock; on a link's reading thread nothing is done but passing data on. What does not
 * belong here: SSH, sentences, backends.
 */
@NullMarked
package dev.gpush.gateway.session;

import org.jspecify.annotations.NullMarked;
