/**
 * Where the gateway of a home and its clients meet: the runtime folder, a function of only the
 * home, the user and the host; and the client's own process as the gateway sees it. JDK only.
 */
@NullMarked
package dev.gpush.control.place;

import org.jspecify.annotations.NullMarked;
