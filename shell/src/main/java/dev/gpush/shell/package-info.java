/** The commands, the interactive loop, and every sentence a user reads. */
@NullMarked
package dev.gpush.shell;

import org.jspecify.annotations.NullMarked;
