/** Files that stay whole when the process is killed, why a file could not be used, and hashes. */
@NullMarked
package dev.gpush.core.file;

import org.jspecify.annotations.NullMarked;
