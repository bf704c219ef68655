/**
 * A rack, what is free in it, and the gangs on its hosts. {@code Host} is one machine, however it
 * is reached; {@code Surveys} asks hosts what they have and who holds it ({@code Survey}, by {@code
 * survey.py} on the host); {@code HostChoice} picks hosts and GPUs for a request.
 *
 * <p>A node is an agent that holds its locks (flock, one file per GPU in a sticky folder of its
 * host, the same for all users) and ends with its lease, so there is no state here: what exists is
 * what agents answer. {@code GangReservation} takes, {@code HostGangs} observes, renews and
 * discovers, {@code GangRelease} gives back. Thread-safe; everything blocks.
 */
@NullMarked
package dev.gpush.backends.hosts.rack;

import org.jspecify.annotations.NullMarked;
