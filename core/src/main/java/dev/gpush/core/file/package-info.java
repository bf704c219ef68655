/** Files that stay whole when the process is killed, and why a file could not be used. */
@NullMarked
package dev.gpush.core.file;

import org.jspecify.annotations.NullMarked;
