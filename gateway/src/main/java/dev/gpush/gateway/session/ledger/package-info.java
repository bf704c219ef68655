/**
 * The sessions on this machine's disk: {@code Ledger} has one {@code LedgerEntry} per session,
 * written before any remote call; {@code SessionFiles} is the folder beside it. Values, immutable.
 * What a session does while the process lives belongs to {@code live}.
 */
@NullMarked
package dev.gpush.gateway.session.ledger;

import org.jspecify.annotations.NullMarked;
