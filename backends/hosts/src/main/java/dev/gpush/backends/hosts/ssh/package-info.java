/** Hosts of a rack that are reached through ssh. Thread-safe. */
@NullMarked
package dev.gpush.backends.hosts.ssh;

import org.jspecify.annotations.NullMarked;
