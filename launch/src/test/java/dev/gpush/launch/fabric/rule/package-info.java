@NullMarked
package dev.gpush.launch.fabric.rule;

import org.jspecify.annotations.NullMarked;
