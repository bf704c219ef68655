/** The gateway process itself, as the shell sees it: its status, its way out, and its ssh face. */
@NullMarked
package dev.gpush.core.gateway;

import org.jspecify.annotations.NullMarked;
