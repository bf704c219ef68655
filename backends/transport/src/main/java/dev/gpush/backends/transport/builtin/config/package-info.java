/** What the user's ssh configuration and known_hosts files say of a host. Reads only. */
@NullMarked
package dev.gpush.backends.transport.builtin.config;

import org.jspecify.annotations.NullMarked;
