/**
 * Failures that a user can act on, as sealed data without prose; the sentences are in the shell's
 * renderer.
 */
@NullMarked
package dev.gpush.core.failure;

import org.jspecify.annotations.NullMarked;
