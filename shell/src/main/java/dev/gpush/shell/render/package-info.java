/**
 * Tables for users, and JSON documents for programs.
 *
 * <p>{@link dev.gpush.shell.console.CommandConsole} is the one writer to a command's two output
 * streams, {@link dev.gpush.shell.console.ConsoleTalk} shows progress and asks, {@link
 * dev.gpush.shell.render.Documents} is what {@code --json} prints. The writers are thread-safe; the
 * rest is pure.
 */
@NullMarked
package dev.gpush.shell.render;

import org.jspecify.annotations.NullMarked;
