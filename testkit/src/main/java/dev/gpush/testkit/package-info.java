/** Fakes, rigs and contracts for the tests of the other modules. */
@NullMarked
package dev.gpush.testkit;

import org.jspecify.annotations.NullMarked;
