/** Benchmarks of the parts whose speed a user notices. */
@NullMarked
package dev.gpush.bench;

import org.jspecify.annotations.NullMarked;
