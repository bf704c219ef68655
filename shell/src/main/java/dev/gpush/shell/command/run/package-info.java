/**
 * Commands that do something on the nodes: runs, their output, single commands, ssh, and files
 * there and back.
 */
@NullMarked
package dev.gpush.shell.command.run;

import org.jspecify.annotations.NullMarked;
