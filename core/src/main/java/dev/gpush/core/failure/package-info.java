/**
 * Failures that a user can act on, as sealed data without prose, and the one renderer of their
 * sentences, {@code FailureText}. Pure.
 */
@NullMarked
package dev.gpush.core.failure;

import org.jspecify.annotations.NullMarked;
