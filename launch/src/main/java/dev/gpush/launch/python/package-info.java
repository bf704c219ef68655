/**
 * Which Python a run uses on each node ({@code PythonChoice}, asked by {@code Pythons}), and what
 * is known of it ({@code PythonFacts}).
 */
@NullMarked
package dev.gpush.launch.python;

import org.jspecify.annotations.NullMarked;
