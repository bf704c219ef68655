/**
 * Commands about this gpush itself: its backends and configuration, logins, its gateway, its
 * prompt.
 */
@NullMarked
package dev.gpush.shell.command.place;

import org.jspecify.annotations.NullMarked;
