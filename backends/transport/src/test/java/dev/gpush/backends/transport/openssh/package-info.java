@NullMarked
package dev.gpush.backends.transport.openssh;

import org.jspecify.annotations.NullMarked;
