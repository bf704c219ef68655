@NullMarked
package dev.gpush.backends.slurm.request;

import org.jspecify.annotations.NullMarked;
