/**
 * Turns the words of {@code run} into the specification for each node. {@code LaunchMaker} asks the
 * nodes; everything else is pure.
 */
@NullMarked
package dev.gpush.launch.plan;

import org.jspecify.annotations.NullMarked;
