/**
 * What may be written in which file, as data: {@code Schema} lists every {@code Key}, {@code
 * Checker} holds a file against it; {@code RecipeReader} reads the recipes for providers' networks.
 * Immutable and thread-safe.
 */
@NullMarked
package dev.gpush.templates.schema;

import org.jspecify.annotations.NullMarked;
