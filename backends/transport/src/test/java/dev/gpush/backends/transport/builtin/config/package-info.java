@NullMarked
package dev.gpush.backends.transport.builtin.config;

import org.jspecify.annotations.NullMarked;
