/**
 * Gangs on the hosts of a rack. A node is an agent that holds its locks (flock, one file per GPU in
 * a sticky folder of its host, the same for all users) and ends with its lease, so there is no
 * state here: what exists is what agents answer. {@code GangReservation} takes, {@code HostGangs}
 * observes, renews and discovers, {@code GangRelease} gives back, {@code HostAgents} speaks to the
 * agents. Thread-safe; everything blocks.
 */
@NullMarked
package dev.gpush.backends.hosts.gang;

import org.jspecify.annotations.NullMarked;
