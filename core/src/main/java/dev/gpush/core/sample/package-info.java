/**
 * What nodes do at this moment: {@code NodeSample} is one look at a node, {@code GpuSample} at one
 * of its GPUs, {@code NodeReading} the newest that is known of a node, and {@code Samples} the port
 * that gives them. {@code RunProgress} is how fast a run makes its steps. {@code NodeStacks} is one
 * look at where the ranks of a node are in their code.
 */
@NullMarked
package dev.gpush.core.sample;

import org.jspecify.annotations.NullMarked;
