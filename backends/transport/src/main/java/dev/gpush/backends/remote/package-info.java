/**
 * What backends that ask somebody far away have in common: text from there made fit to be shown,
 * pauses between two looks, and that nobody could tell. Sees no backend.
 */
@NullMarked
package dev.gpush.backends.remote;

import org.jspecify.annotations.NullMarked;
