/** Adapters of the Backend port, one package each; none sees another. */
@NullMarked
package dev.gpush.backends;

import org.jspecify.annotations.NullMarked;
