/** Changes within a file: what of it a node has already, and a patch of the rest. */
@NullMarked
package dev.gpush.sync.delta;

import org.jspecify.annotations.NullMarked;
