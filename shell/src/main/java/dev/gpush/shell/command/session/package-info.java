/**
 * Commands about sessions and their nodes: {@code up}, {@code down}, {@code ps}, {@code check} and
 * similar ones.
 */
@NullMarked
package dev.gpush.shell.command.session;

import org.jspecify.annotations.NullMarked;
