/** The entry point: builds every object by hand and hands each what it needs. */
@NullMarked
package dev.gpush.app;

import org.jspecify.annotations.NullMarked;
