/**
 * Slurm's programs on the login node: facts that are read once ({@code LoginNode}), gpush's jobs in
 * the queue ({@code SlurmQueue}), and why sbatch refused one ({@code SbatchRefusal}).
 */
@NullMarked
package dev.gpush.backends.slurm.command;

import org.jspecify.annotations.NullMarked;
