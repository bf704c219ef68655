/**
 * The words of {@code run}: what they start, which options of a pasted launcher stay, and which
 * lines of a batch script cannot be. Nothing here asks a node.
 */
@NullMarked
package dev.gpush.launch.words;

import org.jspecify.annotations.NullMarked;
