/**
 * Parses the output of Slurm's programs: nodes, partitions, jobs, times, host lists, and why a job
 * waits in plain words. Values, immutable; nothing here runs a program.
 */
@NullMarked
package dev.gpush.backends.slurm.cluster;

import org.jspecify.annotations.NullMarked;
