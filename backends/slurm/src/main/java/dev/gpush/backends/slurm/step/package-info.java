/**
 * Commands on the nodes of a running job: {@code Steps} starts them, {@code GangAgents} asks all
 * agents of a gang at once.
 */
@NullMarked
package dev.gpush.backends.slurm.step;

import org.jspecify.annotations.NullMarked;
