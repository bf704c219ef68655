/** The only place that makes threads: virtual, named, closed by their creator. */
@NullMarked
package dev.gpush.core.task;

import org.jspecify.annotations.NullMarked;
