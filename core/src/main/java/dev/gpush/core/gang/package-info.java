/** A gang of nodes: what was asked for, what was granted, and for how long. */
@NullMarked
package dev.gpush.core.gang;

import org.jspecify.annotations.NullMarked;
