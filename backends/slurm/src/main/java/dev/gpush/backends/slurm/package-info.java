/**
 * Slurm clusters: a gang is one batch job that holds its nodes and owns the agents on them.
 *
 * <p>{@code SlurmBackend} implements {@code Backend}; {@code JobShaping} turns a request into
 * options of sbatch ({@code JobShape}) or finds why it can never be granted, {@code
 * SlurmReservation} submits and waits, {@code HolderScript} is the job's script, {@code
 * SbatchScripts} reads requests from batch scripts; {@code cluster} parses Slurm's output, {@code
 * command} calls Slurm and runs commands on the job's nodes. All are thread-safe. Only text formats
 * are read, of Slurm 21.08 and later.
 */
@NullMarked
package dev.gpush.backends.slurm;

import org.jspecify.annotations.NullMarked;
