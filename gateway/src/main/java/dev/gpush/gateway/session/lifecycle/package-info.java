/**
 * How sessions begin, change hands and end: {@code PendingRequests} makes them, {@code Adoption}
 * takes them over, {@code SessionEndings} gives them back, {@code PendingReleases} repeats releases
 * until nothing is held. Each needs the session's turn.
 */
@NullMarked
package dev.gpush.gateway.session.lifecycle;

import org.jspecify.annotations.NullMarked;
