/** Adds pauses to the program so that rare orders of its threads occur. */
@NullMarked
package dev.gpush.testkit.slow;

import org.jspecify.annotations.NullMarked;
