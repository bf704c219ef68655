/**
 * Files that are no code: {@code CopyCommand} copies them both ways, {@code CopyStreamCommand} is
 * the node's end of it.
 */
@NullMarked
package dev.gpush.shell.command.data;

import org.jspecify.annotations.NullMarked;
