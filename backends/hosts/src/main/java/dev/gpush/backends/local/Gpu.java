package dev.gpush.backends.local;

/**
 * One GPU of this machine.
 *
 * @param index what CUDA_VISIBLE_DEVICES takes
 * @param identity unique on the host and stable over restarts (a UUID), for the lock's name
 */
record Gpu(String index, String identity, String model) {}
