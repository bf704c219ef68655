@NullMarked
package dev.gpush.sync.merge;

import org.jspecify.annotations.NullMarked;
