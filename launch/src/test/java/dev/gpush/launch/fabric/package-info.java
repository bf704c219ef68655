@NullMarked
package dev.gpush.launch.fabric;

import org.jspecify.annotations.NullMarked;
