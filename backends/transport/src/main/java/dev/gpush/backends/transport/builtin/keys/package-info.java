/** The user's ssh agent: its keys, offered, and its signatures. */
@NullMarked
package dev.gpush.backends.transport.builtin.keys;

import org.jspecify.annotations.NullMarked;
