/** Commands about sessions and their nodes: {@code up}, {@code down}, {@code ps} and their like. */
@NullMarked
package dev.gpush.shell.command.session;

import org.jspecify.annotations.NullMarked;
