/**
 * The objects of a gang as JSON: {@code GangObjects} writes the Job and what it owns, {@code
 * PodShaping} decides what its pods ask for, {@code PodPatch} lays a person's own words over them.
 */
@NullMarked
package dev.gpush.backends.kubernetes.objects;

import org.jspecify.annotations.NullMarked;
