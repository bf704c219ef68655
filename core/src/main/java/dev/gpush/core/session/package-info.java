/** Sessions as the shell sees them: requests, views and the port that the gateway implements. */
@NullMarked
package dev.gpush.core.session;

import org.jspecify.annotations.NullMarked;
