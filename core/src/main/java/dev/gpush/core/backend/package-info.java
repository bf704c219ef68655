/** The port of a place that can grant gangs, and the words around it. */
@NullMarked
package dev.gpush.core.backend;

import org.jspecify.annotations.NullMarked;
