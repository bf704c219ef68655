@NullMarked
package dev.gpush.launch.journal;

import org.jspecify.annotations.NullMarked;
