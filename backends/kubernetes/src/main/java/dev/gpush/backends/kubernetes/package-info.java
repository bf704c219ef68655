/**
 * Kubernetes clusters: a gang is one Indexed Job whose pods' first process is the agent.
 *
 * <p>{@code KubernetesBackend} is the port. {@code cluster} knows the nodes, {@code objects} turns
 * a request into pods or says why none can ever run, {@code gangs} marks them for the scheduler,
 * {@code KubernetesReservation} creates them and waits, {@code pods} reads their state; {@code
 * AttachedGangs} are gangs of pods of other owners. Objects are JSON as the API server has them.
 * All classes are thread-safe and keep no state: the objects with gpush's labels have it.
 */
@NullMarked
package dev.gpush.backends.kubernetes;

import org.jspecify.annotations.NullMarked;
