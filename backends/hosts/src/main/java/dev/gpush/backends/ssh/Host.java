package dev.gpush.backends.ssh;

import dev.gpush.backends.transport.RemoteMachine;
import dev.gpush.core.gang.GpuRequest;
import java.util.Optional;

/**
 * A host of the inventory.
 *
 * @param name unique in the inventory; nodes are called so
 * @param address where the other hosts reach it, if not where we do
 * @param gpus what it has where nvidia-smi cannot tell
 */
record Host(
    String name, RemoteMachine machine, Optional<String> address, Optional<GpuRequest> gpus) {}
