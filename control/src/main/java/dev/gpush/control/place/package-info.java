/**
 * Where the gateway of a home and its clients meet: the runtime folder, a function of the home, the
 * user and the host alone. JDK only.
 */
@NullMarked
package dev.gpush.control.place;

import org.jspecify.annotations.NullMarked;
