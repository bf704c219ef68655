/**
 * The API server as this backend needs it: JSON objects by their path, and commands in pods as
 * pipes. {@code Access} finds the way there as kubectl does, {@code KubeApi} asks, {@code ExecPipe}
 * carries a command's streams over one WebSocket. The library fabric8 reads kubeconfig files, logs
 * in and speaks HTTP; it stays in here. Thread-safe; everything blocks.
 */
@NullMarked
package dev.gpush.backends.kubernetes.api;

import org.jspecify.annotations.NullMarked;
