/** {@code gpush check}: what is planned for a gang's network, and whether the gang works. */
@NullMarked
package dev.gpush.shell.command.check;

import org.jspecify.annotations.NullMarked;
