/**
 * Hosts that nobody schedules, reached by ssh, as one backend. {@code SshBackend} is the adapter.
 * {@code SshPlace} is what the configuration lists; {@code Surveys} asks hosts what they have and
 * who holds it ({@code Survey}); {@code HostChoice} picks hosts and GPUs for a request; {@code
 * SshReservation} takes, {@code HostResources} is what must be gone after a release, {@code
 * HostAgents} speaks to the agents. A node is an agent that holds flocks on files in a sticky
 * folder of its host: the same that the local backend takes there, so that both see each other.
 * Thread-safe; everything blocks.
 */
@NullMarked
package dev.gpush.backends.ssh;

import org.jspecify.annotations.NullMarked;
