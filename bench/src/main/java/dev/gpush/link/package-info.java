/** Benchmarks of the link's own parts, in its package because they are nobody else's. */
@NullMarked
package dev.gpush.link;

import org.jspecify.annotations.NullMarked;
