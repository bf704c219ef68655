/**
 * Session templates and fabric recipes: what a user may write in YAML, its schema, and the loader.
 */
@NullMarked
package dev.gpush.templates;

import org.jspecify.annotations.NullMarked;
