/**
 * Launching: from the words of {@code run} to one supervised process tree per node, and from the
 * nodes' journals back to lines on a terminal.
 *
 * <p>{@link Launcher} is what the gateway uses, one for each session. {@link RunWords}, {@link
 * PythonChoice}, {@link SlotPlan} and {@link LaunchPlan} decide without I/O; {@link RunJournal} and
 * {@link RunMerge} read what the nodes' supervisors write (docs/technical/runs.md). {@link
 * NodeCalls} is the only use of a node's link.
 *
 * <p>Threads: a {@code Launcher} is thread-safe and watches each run on its own threads; everything
 * else belongs to the thread that made it.
 */
@NullMarked
package dev.gpush.launch;

import org.jspecify.annotations.NullMarked;
