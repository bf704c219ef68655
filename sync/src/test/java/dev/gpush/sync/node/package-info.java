@NullMarked
package dev.gpush.sync.node;

import org.jspecify.annotations.NullMarked;
