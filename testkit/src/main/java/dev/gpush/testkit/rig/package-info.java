/** Rigs of src/test/rigs as objects: real things that a test needs and not every machine has. */
@NullMarked
package dev.gpush.testkit.rig;

import org.jspecify.annotations.NullMarked;
