/**
 * What git knows of a folder: which files it tracks, which it ignores and by which rule. Reads
 * only.
 */
@NullMarked
package dev.gpush.sync.git;

import org.jspecify.annotations.NullMarked;
