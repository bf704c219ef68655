/**
 * Systems that place all pods of a gang together or none: a scheduler, a queue, or gpush's own
 * {@code Assembly} if the cluster has neither. {@code GangSystems} finds out which it is.
 */
@NullMarked
package dev.gpush.backends.kubernetes.gangs;

import org.jspecify.annotations.NullMarked;
