/** The plan for NCCL as users read it, from the recorded gangs of the agent's tests. */
@NullMarked
package dev.gpush.fabric;

import org.jspecify.annotations.NullMarked;
