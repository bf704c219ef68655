/** Hosts behind ssh: {@code HostRange} writes out the names of the configuration. Thread-safe. */
@NullMarked
package dev.gpush.backends.hosts.ssh;

import org.jspecify.annotations.NullMarked;
