/** Tests of the launcher, {@code gpush}, as a program with a home and a cache of its own. */
@NullMarked
package dev.gpush.launcher;

import org.jspecify.annotations.NullMarked;
