/** The client's terminal: its modes, its size, what is typed and what is shown. */
@NullMarked
package dev.gpush.control.client.terminal;

import org.jspecify.annotations.NullMarked;
