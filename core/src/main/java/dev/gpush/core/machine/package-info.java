/** Machines on which a backend runs commands, whatever lies between: nothing, ssh, a hub. */
@NullMarked
package dev.gpush.core.machine;

import org.jspecify.annotations.NullMarked;
