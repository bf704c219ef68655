/**
 * What the session's environment is made of ({@code EnvironmentChoice}), and how the nodes are told
 * ({@code NodeEnvironments}).
 */
@NullMarked
package dev.gpush.launch.environment;

import org.jspecify.annotations.NullMarked;
