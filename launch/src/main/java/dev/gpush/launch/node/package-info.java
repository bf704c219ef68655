/**
 * Where runs happen: a session's nodes, the calls that launching makes to one ({@code NodeCalls};
 * {@code LinkNode} does it over a link), which Python a run uses there ({@code PythonChoice}, asked
 * by {@code Pythons}), and what the session's environment is made of ({@code EnvironmentChoice}).
 */
@NullMarked
package dev.gpush.launch.node;

import org.jspecify.annotations.NullMarked;
