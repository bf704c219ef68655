/**
 * Slurm's programs on the login node: what is asked once ({@code LoginNode}), our jobs in the queue
 * ({@code SlurmQueue}), and why sbatch refused one ({@code SbatchRefusal}).
 */
@NullMarked
package dev.gpush.backends.slurm.command;

import org.jspecify.annotations.NullMarked;
