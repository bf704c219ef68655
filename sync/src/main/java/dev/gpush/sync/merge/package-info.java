/**
 * What becomes of one path that the laptop and the nodes have: {@link dev.gpush.sync.merge.Merge}
 * is the only place where it is decided. Pure; all types are values.
 */
@NullMarked
package dev.gpush.sync.merge;

import org.jspecify.annotations.NullMarked;
