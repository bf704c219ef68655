/**
 * One command being carried out: {@code Call} is who asked, from where, and how to answer; {@code
 * Action} what a parsed command does with it; {@code Services} what all commands work with.
 */
@NullMarked
package dev.gpush.shell.command.call;

import org.jspecify.annotations.NullMarked;
