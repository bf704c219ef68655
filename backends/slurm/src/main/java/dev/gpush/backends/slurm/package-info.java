/**
 * Slurm clusters: a gang is one batch job that holds its nodes and owns the agents on them.
 *
 * <p>{@code SlurmBackend} is the port; {@code request} turns a request into what sbatch is asked
 * for or says why that is hopeless, {@code SlurmReservation} submits and waits, {@code
 * HolderScript} is what runs as the job, {@code step} gets commands to its nodes, {@code cluster}
 * reads what Slurm prints, {@code command} asks it. All are thread-safe. Only text formats are
 * read, of Slurm 21.08 and later.
 */
@NullMarked
package dev.gpush.backends.slurm;

import org.jspecify.annotations.NullMarked;
