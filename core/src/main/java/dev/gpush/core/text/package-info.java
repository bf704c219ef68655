/**
 * Text as it comes from people and machines: bytes that are not UTF-8, words that are misspelled,
 * and what must not reach a terminal.
 */
@NullMarked
package dev.gpush.core.text;

import org.jspecify.annotations.NullMarked;
