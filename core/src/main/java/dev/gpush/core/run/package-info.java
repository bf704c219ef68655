/** Runs as the shell sees them. */
@NullMarked
package dev.gpush.core.run;

import org.jspecify.annotations.NullMarked;
