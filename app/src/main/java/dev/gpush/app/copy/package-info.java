/** The program of {@code gpush cp}, as a file that Python runs. */
@NullMarked
package dev.gpush.app.copy;

import org.jspecify.annotations.NullMarked;
