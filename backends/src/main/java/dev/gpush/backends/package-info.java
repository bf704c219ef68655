/**
 * Adapters of the Backend port, one package each; none sees another, all may stand on transport.
 */
@NullMarked
package dev.gpush.backends;

import org.jspecify.annotations.NullMarked;
