@NullMarked
package dev.gpush.backends.kubernetes.pods;

import org.jspecify.annotations.NullMarked;
