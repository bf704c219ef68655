/**
 * What the cluster has: its nodes, their GPUs and network devices, who has asked for what on them
 * ({@code ClusterRoom}), and what one pod of a gang asks for ({@code PodShape}). Values.
 */
@NullMarked
package dev.gpush.backends.kubernetes.cluster;

import org.jspecify.annotations.NullMarked;
