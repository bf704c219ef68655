@NullMarked
package dev.gpush.launch.check;

import org.jspecify.annotations.NullMarked;
