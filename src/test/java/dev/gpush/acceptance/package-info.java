/**
 * The whole of gpush as a user has it: the launcher in the root, a GPUSH_HOME of its own, real
 * agents, a real ssh client. {@code World} is one such home; it ends everything it started and
 * fails when something of gpush is left.
 */
@NullMarked
package dev.gpush.acceptance;

import org.jspecify.annotations.NullMarked;
