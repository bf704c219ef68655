/**
 * What may be written in which file, as data: {@code Schema} lists every {@code Key}, {@code
 * Checker} holds a file against it. Immutable and thread-safe.
 */
@NullMarked
package dev.gpush.templates.schema;

import org.jspecify.annotations.NullMarked;
