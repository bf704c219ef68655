@NullMarked
package dev.gpush.launch.words;

import org.jspecify.annotations.NullMarked;
