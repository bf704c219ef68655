/**
 * Commands that do something on the nodes: runs, their output, single commands, ssh, and copying
 * files.
 */
@NullMarked
package dev.gpush.shell.command.run;

import org.jspecify.annotations.NullMarked;
