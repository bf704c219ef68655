/**
 * The gateway process itself, as the shell sees it: its status, stopping it, and its ssh
 * configuration.
 */
@NullMarked
package dev.gpush.core.gateway;

import org.jspecify.annotations.NullMarked;
