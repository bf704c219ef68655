/** Files that a killed process leaves whole. */
@NullMarked
package dev.gpush.core.file;

import org.jspecify.annotations.NullMarked;
