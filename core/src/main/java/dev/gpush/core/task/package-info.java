/**
 * The only place that makes threads (virtual, named, closed by their creator), and time as a port.
 */
@NullMarked
package dev.gpush.core.task;

import org.jspecify.annotations.NullMarked;
