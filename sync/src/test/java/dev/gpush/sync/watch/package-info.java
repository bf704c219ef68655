@NullMarked
package dev.gpush.sync.watch;

import org.jspecify.annotations.NullMarked;
