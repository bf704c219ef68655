/**
 * Files that stay whole when the process is killed, why a file could not be used, hashes, and
 * random names.
 */
@NullMarked
package dev.gpush.core.file;

import org.jspecify.annotations.NullMarked;
