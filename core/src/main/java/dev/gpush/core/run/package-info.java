/**
 * Runs as the shell sees them: what is requested ({@code RunRequest}), what is shown ({@code
 * RunView}), and the port {@code Runs}, which the gateway implements.
 */
@NullMarked
package dev.gpush.core.run;

import org.jspecify.annotations.NullMarked;
