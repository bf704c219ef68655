/** Machines on which a backend runs commands, however they are reached: nothing, ssh, a hub. */
@NullMarked
package dev.gpush.core.machine;

import org.jspecify.annotations.NullMarked;
