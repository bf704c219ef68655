/**
 * The interactive shell, on the client's side: reads lines, has each carried out by the gateway as
 * if it had been typed after gpush, and shows the session's state in its prompt. {@link
 * dev.gpush.shell.loop.Loop} is the main class; its only state is the history. One thread edits and
 * carries out lines, one listens to the gateway.
 */
@NullMarked
package dev.gpush.shell.loop;

import org.jspecify.annotations.NullMarked;
