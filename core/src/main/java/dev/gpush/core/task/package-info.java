/**
 * The only place that makes threads ({@code Tasks}: virtual, named, closed by their creator), time
 * as a port ({@code Clock}), and what wakes a thread that waits.
 */
@NullMarked
package dev.gpush.core.task;

import org.jspecify.annotations.NullMarked;
