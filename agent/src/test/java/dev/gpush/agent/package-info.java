/** Runs the tests of the Python agent in the build. */
@NullMarked
package dev.gpush.agent;

import org.jspecify.annotations.NullMarked;
