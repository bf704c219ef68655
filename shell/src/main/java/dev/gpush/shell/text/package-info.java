/**
 * Why a run failed, as a sentence ({@code RunFailureText}), words as a shell reads them, and what a
 * terminal can show. Pure.
 */
@NullMarked
package dev.gpush.shell.text;

import org.jspecify.annotations.NullMarked;
