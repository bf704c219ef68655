/**
 * The life of sessions: asked → queued → granted → ready ⇄ degraded → releasing → released, or
 * leaked. {@code GatewaySessions} is all of them behind core's {@code Sessions} port, {@code
 * GatewayRuns} stands behind {@code Runs}, {@code SessionRoutes} behind the SSH server's {@code
 * Routes}; {@code Recovery} is what a new gateway does with the ledger of the one before it, and
 * {@code SessionService} builds it all. The parts lie below, each using only those before it:
 * {@code ledger}, {@code live}, {@code links}, {@code placement}, {@code lifecycle}, {@code views}.
 *
 * <p>Threads: every command comes on a virtual thread of its own; a session's changes are guarded
 * by its own lock; nothing is called on a link's reading thread but handing over. What does not
 * belong here: SSH, sentences, backends.
 */
@NullMarked
package dev.gpush.gateway.session;

import org.jspecify.annotations.NullMarked;
