/**
 * Where runs happen: a session's nodes, and the calls that launching makes to one ({@code
 * NodeCalls}; {@code LinkNode} does it over a link).
 */
@NullMarked
package dev.gpush.launch.node;

import org.jspecify.annotations.NullMarked;
