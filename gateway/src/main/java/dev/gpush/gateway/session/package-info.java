/**
 * The life of sessions: asked → queued → granted → linked → ready ⇄ degraded → releasing →
 * released, or leaked. {@code Ledger} is the durable record, {@code LiveSession} one session with
 * its links, {@code GatewaySessions} all of them behind core's {@code Sessions} port: {@code
 * SessionBook} finds them by name and folder, {@code Requests} turns wishes into what a backend is
 * asked, {@code Endings} gives back. {@code GatewayRuns} stands behind {@code Runs}. Threads: every
 * command comes on a virtual thread of its own; a session's changes are guarded by its own lock;
 * nothing is called on a link's reading thread but handing over. What does not belong here: SSH,
 * sentences, backends.
 */
@NullMarked
package dev.gpush.gateway.session;

import org.jspecify.annotations.NullMarked;
