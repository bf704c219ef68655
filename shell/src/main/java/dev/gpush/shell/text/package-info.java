/**
 * Facts as sentences: failures ({@code FailureText}), words for the shell, "did you mean", and text
 * from elsewhere made fit to be shown. Pure.
 */
@NullMarked
package dev.gpush.shell.text;

import org.jspecify.annotations.NullMarked;
