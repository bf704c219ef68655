@NullMarked
package dev.gpush.sync.scan;

import org.jspecify.annotations.NullMarked;
