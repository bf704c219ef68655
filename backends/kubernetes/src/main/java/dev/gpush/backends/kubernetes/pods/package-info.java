/**
 * The pods of gangs as they are now: {@code Namespace} asks the API server, {@code Pods} has its
 * answer, {@code PodFailure} the reason why one does not run, {@code PodAgents} asks the agents in
 * them. {@code AttachedGangs} are pods of other owners.
 */
@NullMarked
package dev.gpush.backends.kubernetes.pods;

import org.jspecify.annotations.NullMarked;
