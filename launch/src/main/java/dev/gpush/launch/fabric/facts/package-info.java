/**
 * What the agent of one node says of its network and GPUs, read from JSON. Nothing here throws:
 * what is missing or makes no sense is absent and named in {@code FabricFacts.mistakes}.
 */
@NullMarked
package dev.gpush.launch.fabric.facts;

import org.jspecify.annotations.NullMarked;
