/** Ways into the nodes: a shell, an editor, ports, copies of data. */
@NullMarked
package dev.gpush.shell.command.reach;

import org.jspecify.annotations.NullMarked;
