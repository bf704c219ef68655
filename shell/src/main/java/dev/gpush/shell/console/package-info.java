/**
 * What a command writes: {@code CommandConsole} is the one writer to its outputs, {@code
 * ConsoleTalk} its progress and questions, {@code OutputPump} the lines of a run.
 */
@NullMarked
package dev.gpush.shell.console;

import org.jspecify.annotations.NullMarked;
