@NullMarked
package dev.gpush.launch.plan;

import org.jspecify.annotations.NullMarked;
