/**
 * What {@code gpush check} found on a gang: {@code CheckReport}, with a verdict for each node.
 * Values without threads; {@code launch} makes them, {@code shell} shows them.
 */
@NullMarked
package dev.gpush.core.check;

import org.jspecify.annotations.NullMarked;
