/**
 * From a command line to a granted gang: {@code Preferences} resolves flags, files and the folder's
 * last request to a {@code ResolvedUp}, {@code RequestBuilder} makes the requests, {@code PlanPoll}
 * asks all backends, {@code PlaceChoice} decides, {@code Placement} reserves, in several queues at
 * once if need be ({@code ReservationRace}). One thread for each request.
 */
@NullMarked
package dev.gpush.gateway.session.placement;

import org.jspecify.annotations.NullMarked;
