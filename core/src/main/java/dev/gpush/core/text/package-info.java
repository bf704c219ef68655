/**
 * Text from people and machines: bytes that are not UTF-8, misspelled words, and characters that
 * must not reach a terminal; facts as parts of sentences; hashes.
 */
@NullMarked
package dev.gpush.core.text;

import org.jspecify.annotations.NullMarked;
