/**
 * The gateway's process: its entry, its home folder, its log, and the one place where everything is
 * built by hand.
 *
 * <p>{@link dev.gpush.app.Main} is the entry, {@link dev.gpush.app.Wiring} builds, {@link
 * dev.gpush.app.GatewayProcess} is the process as commands see it. Main's thread waits for the end;
 * all else happens on threads of {@code Tasks}.
 */
@NullMarked
package dev.gpush.app;

import org.jspecify.annotations.NullMarked;
