/**
 * The working tree, read: {@code TreeWalk} finds what is sent, {@code FileReading} hashes what has
 * changed, {@code HashCache} knows the rest, {@code TreeScan} does all of it and asks before it
 * sends too much. One thread.
 */
@NullMarked
package dev.gpush.sync.scan;

import org.jspecify.annotations.NullMarked;
