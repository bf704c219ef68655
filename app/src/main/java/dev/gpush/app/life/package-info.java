/**
 * The gateway's process: its log file, how much memory it keeps, what keeps its build in the cache,
 * and when it ends because it is not needed.
 */
@NullMarked
package dev.gpush.app.life;

import org.jspecify.annotations.NullMarked;
