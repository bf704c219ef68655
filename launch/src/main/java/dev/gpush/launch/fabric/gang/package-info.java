/**
 * What the nodes of a session said of their network ({@code SessionFacts}), and what follows from
 * all of it together, before anything is decided: which interface reaches the others ({@code
 * SocketInterfaces}), which RDMA devices are rails ({@code Rails}), what is set already ({@code
 * GivenVariables}), which recipes apply ({@code RecipeMatch}). What the ranks of one run get from
 * it is in {@code RunFabrics}.
 */
@NullMarked
package dev.gpush.launch.fabric.gang;

import org.jspecify.annotations.NullMarked;
