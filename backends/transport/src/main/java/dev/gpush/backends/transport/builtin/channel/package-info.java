/** Channels of sshj that never hold up their connection: each waits outside of the library. */
@NullMarked
package dev.gpush.backends.transport.builtin.channel;

import org.jspecify.annotations.NullMarked;
