/**
 * What holds up a push: how long each node lets its conversation wait, and how often it begins
 * again.
 */
@NullMarked
package dev.gpush.sync.pace;

import org.jspecify.annotations.NullMarked;
