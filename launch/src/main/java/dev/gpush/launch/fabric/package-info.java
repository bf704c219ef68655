/**
 * The plan for NCCL: from the facts of all nodes of a gang to variables, each with a reason, and
 * findings. {@code FabricPlanner} is the way in; {@code facts} reads what nodes say, {@code gang}
 * says what follows from it, {@code rule} decides. See docs/decisions/0050.
 */
@NullMarked
package dev.gpush.launch.fabric;

import org.jspecify.annotations.NullMarked;
