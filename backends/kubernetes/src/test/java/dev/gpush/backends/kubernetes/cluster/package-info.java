@NullMarked
package dev.gpush.backends.kubernetes.cluster;

import org.jspecify.annotations.NullMarked;
