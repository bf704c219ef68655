/**
 * The API server as this backend needs it: JSON objects by their path, and commands in pods as
 * pipes. {@code Access} finds the cluster as kubectl does, {@code KubeApi} sends requests, {@code
 * ExecPipe} carries a command's streams over one WebSocket. The library fabric8 reads kubeconfig
 * files, logs in and speaks HTTP; no other package uses it. Thread-safe; everything blocks.
 */
@NullMarked
package dev.gpush.backends.kubernetes.api;

import org.jspecify.annotations.NullMarked;
