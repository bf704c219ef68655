/**
 * Kubernetes clusters: a gang is one Indexed Job whose pods' first process is the agent.
 *
 * <p>{@code KubernetesBackend} is the port. {@code cluster} knows the nodes, {@code objects} turns
 * a request into pods or says why none can ever run, {@code gangs} marks them for the scheduler,
 * {@code KubernetesReservation} creates them and waits, {@code pods} reads what becomes of them;
 * {@code AttachedGangs} are gangs of pods that others run. Objects are JSON as the API server has
 * them. All are thread-safe; nothing is kept here: what exists is what carries our labels.
 */
@NullMarked
package dev.gpush.backends.kubernetes;

import org.jspecify.annotations.NullMarked;
