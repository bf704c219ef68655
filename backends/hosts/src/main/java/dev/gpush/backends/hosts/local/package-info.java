/**
 * The machine that gpush runs on, as a host. {@code LocalHost} is the port to its processes and
 * {@code SystemHost} the real one; {@code NodeSocket} is an agent's own socket, over which links go
 * without a relay. Thread-safe.
 */
@NullMarked
package dev.gpush.backends.hosts.local;

import org.jspecify.annotations.NullMarked;
