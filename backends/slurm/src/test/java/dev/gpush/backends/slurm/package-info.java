@NullMarked
package dev.gpush.backends.slurm;

import org.jspecify.annotations.NullMarked;
