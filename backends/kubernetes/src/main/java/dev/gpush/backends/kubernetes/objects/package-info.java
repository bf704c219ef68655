/**
 * The objects of a gang as JSON: {@code GangObjects} writes the Job and what it owns, {@code
 * PodShaping} decides what its pods request, {@code PodPatch} merges the user's patch into them.
 */
@NullMarked
package dev.gpush.backends.kubernetes.objects;

import org.jspecify.annotations.NullMarked;
