/** The port of backends, which grant gangs, and the types that it uses. */
@NullMarked
package dev.gpush.core.backend;

import org.jspecify.annotations.NullMarked;
