/** Makes some places of the program slow, so that its threads meet where they seldom do. */
@NullMarked
package dev.gpush.testkit.slow;

import org.jspecify.annotations.NullMarked;
