package dev.gpush.backends.kubernetes.cluster;

import dev.gpush.core.json.Json;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The requests of one pod of a gang.
 *
 * @param resource of the GPUs; empty on a CPU node
 * @param terms of node selection: one of them must hold; empty: any node
 * @param gpus of each node
 * @param gpuModel its common name; empty on a CPU node
 * @param cpuMillis asked for; 0: nothing
 * @param memoryBytes asked for; 0: nothing
 * @param fabric network devices by their resources
 */
public record PodShape(
    Optional<String> resource,
    int gpus,
    List<Json> terms,
    String gpuModel,
    long cpuMillis,
    long memoryBytes,
    Map<String, Long> fabric) {
  public PodShape {
    terms = List.copyOf(terms);
    fabric = Map.copyOf(fabric);
  }

  /** The same with network devices. */
  public PodShape with(Map<String, Long> devices) {
    return new PodShape(resource, gpus, terms, gpuModel, cpuMillis, memoryBytes, devices);
  }

  /** The number of whole CPUs. */
  public int cpus() {
    return (int) Math.max(1, (cpuMillis + 500) / 1000);
  }

  /** The resources that a node must have free for it. */
  public Map<String, Long> wants() {
    var wants = new HashMap<>(fabric);
    resource.ifPresent(name -> wants.put(name, (long) gpus));
    wants.put(KubernetesNode.CPU, cpuMillis);
    wants.put("memory", memoryBytes);
    wants.put("pods", 1L);
    return wants;
  }
}
