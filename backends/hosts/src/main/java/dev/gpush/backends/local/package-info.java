/**
 * This machine as N nodes. {@code LocalBackend} is the adapter; {@code LocalReservation} takes,
 * {@code LocalResources} is what must be gone after a release, {@code LocalAgents} speaks to the
 * agents, {@code NodeSocket} is an agent's own socket, over which links go without a relay; {@code
 * GpuInventory} is what nvidia-smi and rocm-smi say, {@code HostLocks} who holds which GPU. The
 * agents hold the locks (flock, one file per GPU in a sticky folder of the host), so that two
 * sessions, gateways or users never get the same GPU and a killed agent lets go by dying.
 * Thread-safe; every method blocks on child processes.
 */
@NullMarked
package dev.gpush.backends.local;

import org.jspecify.annotations.NullMarked;
