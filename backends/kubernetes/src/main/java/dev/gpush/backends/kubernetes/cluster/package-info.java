/**
 * The resources of the cluster: its nodes, their GPUs and network devices, the requests on them
 * ({@code ClusterRoom}), and the requests of one pod of a gang ({@code PodShape}). Values.
 */
@NullMarked
package dev.gpush.backends.kubernetes.cluster;

import org.jspecify.annotations.NullMarked;
