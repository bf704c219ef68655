/**
 * From the words of {@code run} to what each node is told to start. {@code LaunchMaker} asks the
 * nodes; all else decides without asking anybody.
 */
@NullMarked
package dev.gpush.launch.plan;

import org.jspecify.annotations.NullMarked;
