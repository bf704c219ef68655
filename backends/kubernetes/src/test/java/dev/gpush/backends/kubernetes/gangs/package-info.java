@NullMarked
package dev.gpush.backends.kubernetes.gangs;

import org.jspecify.annotations.NullMarked;
