@NullMarked
package dev.gpush.backends.kubernetes.api;

import org.jspecify.annotations.NullMarked;
