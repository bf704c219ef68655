@NullMarked
package dev.gpush.backends.slurm.command;

import org.jspecify.annotations.NullMarked;
