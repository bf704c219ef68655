/**
 * Turns a request into options of sbatch ({@code JobShaping} makes a {@code JobShape}) by the
 * cluster's settings, and into the job's comment ({@code JobTag}); {@code SbatchScripts} reads
 * requests from batch scripts. Pure.
 */
@NullMarked
package dev.gpush.backends.slurm.request;

import org.jspecify.annotations.NullMarked;
