/**
 * Sessions as users see them: {@code SessionViews} for {@code ps} and {@code nodes}, {@code Doctor}
 * for everything that was ever reserved. Reads only; any thread.
 */
@NullMarked
package dev.gpush.gateway.session.views;

import org.jspecify.annotations.NullMarked;
