/** Ways into the nodes: a shell, an editor, ports. */
@NullMarked
package dev.gpush.shell.command.reach;

import org.jspecify.annotations.NullMarked;
