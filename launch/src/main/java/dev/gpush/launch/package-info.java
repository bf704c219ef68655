/**
 * From facts about nodes to an NCCL plan and a torchrun plan; watching over the run and merging its
 * logs.
 */
@NullMarked
package dev.gpush.launch;

import org.jspecify.annotations.NullMarked;
