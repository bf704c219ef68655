/**
 * Slurm's programs on the login node: facts that are read once ({@code LoginNode}), gpush's jobs in
 * the queue ({@code SlurmQueue}), why sbatch refused one ({@code SbatchRefusal}), and commands on
 * the nodes of a running job ({@code Steps}; {@code GangAgents} asks all agents at once).
 */
@NullMarked
package dev.gpush.backends.slurm.command;

import org.jspecify.annotations.NullMarked;
