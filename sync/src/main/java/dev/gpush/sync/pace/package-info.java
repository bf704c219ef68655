/** Which nodes hold up the others: how long each lets its conversation wait. Thread-safe. */
@NullMarked
package dev.gpush.sync.pace;

import org.jspecify.annotations.NullMarked;
