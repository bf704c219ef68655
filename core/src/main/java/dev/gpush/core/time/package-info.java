/** Time as a port. */
@NullMarked
package dev.gpush.core.time;

import org.jspecify.annotations.NullMarked;
