/**
 * The commands. They run inside the gateway process; {@link dev.gpush.shell.command.ShellHandler}
 * receives each command line from the control server, finds the verb, parses with picocli and
 * answers with an exit status. A command is one small class: its options, its help and what it does
 * with the ports of core. One thread per invocation.
 */
@NullMarked
package dev.gpush.shell.command;

import org.jspecify.annotations.NullMarked;
