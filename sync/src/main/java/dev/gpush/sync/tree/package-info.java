/**
 * The state of a tree as a value: {@code Manifest}, its hash, its {@code Generation} on the nodes,
 * and a {@code Scan} of the working tree. {@code Merge} alone decides what becomes of a path that
 * the laptop and the nodes have. Immutable.
 */
@NullMarked
package dev.gpush.sync.tree;

import org.jspecify.annotations.NullMarked;
