/** Who may use whom, as tests on the compiled classes. */
@NullMarked
package dev.gpush.architecture;

import org.jspecify.annotations.NullMarked;
