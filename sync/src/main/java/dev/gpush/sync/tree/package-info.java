/**
 * The state of a tree as a value: {@code Manifest}, its hash, its {@code Generation} on the nodes,
 * and a {@code Scan} of the working tree. Immutable.
 */
@NullMarked
package dev.gpush.sync.tree;

import org.jspecify.annotations.NullMarked;
