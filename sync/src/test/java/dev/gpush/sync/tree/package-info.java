@NullMarked
package dev.gpush.sync.tree;

import org.jspecify.annotations.NullMarked;
