/**
 * The interactive shell, on the client's side: reads lines, has each carried out by the gateway as
 * if it had been typed behind gpush, and shows where things stand in its prompt. {@link
 * dev.gpush.shell.loop.Loop} is the whole of it; it holds no state but the history. One thread.
 */
@NullMarked
package dev.gpush.shell.loop;

import org.jspecify.annotations.NullMarked;
