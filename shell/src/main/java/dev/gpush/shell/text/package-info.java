/**
 * Facts as sentences: failures ({@code FailureText}), words for the shell, "did you mean", and
 * cleaning of text from elsewhere. Pure.
 */
@NullMarked
package dev.gpush.shell.text;

import org.jspecify.annotations.NullMarked;
