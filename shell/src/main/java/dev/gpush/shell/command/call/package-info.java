/**
 * One command in progress: {@code Call} has its user, folder and outputs, {@code Action} is a
 * parsed command, {@code Services} the ports that all commands use.
 */
@NullMarked
package dev.gpush.shell.command.call;

import org.jspecify.annotations.NullMarked;
