@NullMarked
package dev.gpush.backends.slurm.step;

import org.jspecify.annotations.NullMarked;
