/**
 * From a request to what sbatch is asked for ({@code JobShaping} makes a {@code JobShape}), by the
 * settings of the place, and what the job's comment says of the gang ({@code JobTag}); {@code
 * SbatchScripts} reads the requests that batch scripts are. Decides only; asks nobody.
 */
@NullMarked
package dev.gpush.backends.slurm.request;

import org.jspecify.annotations.NullMarked;
