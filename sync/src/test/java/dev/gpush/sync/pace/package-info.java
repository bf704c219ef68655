@NullMarked
package dev.gpush.sync.pace;

import org.jspecify.annotations.NullMarked;
