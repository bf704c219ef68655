/**
 * Kubernetes clusters: a gang is one Indexed Job whose pods' first process is the agent.
 *
 * <p>{@code KubernetesBackend} is the port. {@code Room} knows the nodes, {@code Shaping} turns a
 * request into pods or says why that is hopeless, {@code Manifest} writes the objects, a {@code
 * GangSystem} marks them for whoever schedules, {@code KubernetesReservation} creates them and
 * waits, {@code Fate} reads what becomes of pods; {@code Loans} are gangs of pods that somebody
 * else runs. Objects are JSON as the API server has them. All are thread-safe; nothing is kept
 * here: what exists is what carries our labels.
 */
@NullMarked
package dev.gpush.backends.kubernetes;

import org.jspecify.annotations.NullMarked;
