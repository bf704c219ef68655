/**
 * The pods of gangs as they are now: {@code Namespace} asks the API server, {@code Pods} is what it
 * said, {@code PodFailure} says why one does not run, {@code PodAgents} asks the agents in them.
 * Pods of others are {@code AttachedGangs}.
 */
@NullMarked
package dev.gpush.backends.kubernetes.pods;

import org.jspecify.annotations.NullMarked;
