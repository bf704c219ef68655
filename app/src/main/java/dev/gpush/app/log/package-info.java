/** The gateway's log file, and the events that are written to it. */
@NullMarked
package dev.gpush.app.log;

import org.jspecify.annotations.NullMarked;
