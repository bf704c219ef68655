/**
 * {@code FabricPlanner} and the rules of its plan, one class for each concern. Each reads a {@code
 * GangView} and writes variables and findings into a {@code Draft}; none depends on what another
 * wrote, but for the order in which {@code FabricPlanner} calls them.
 */
@NullMarked
package dev.gpush.launch.fabric.rule;

import org.jspecify.annotations.NullMarked;
