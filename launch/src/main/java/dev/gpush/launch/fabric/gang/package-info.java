/**
 * What follows from the facts of all nodes together, before anything is decided: which interface
 * reaches the others ({@code SocketInterfaces}), which RDMA devices are rails ({@code Rails}), what
 * is set already ({@code GivenVariables}), which recipes apply ({@code RecipeMatch}).
 */
@NullMarked
package dev.gpush.launch.fabric.gang;

import org.jspecify.annotations.NullMarked;
