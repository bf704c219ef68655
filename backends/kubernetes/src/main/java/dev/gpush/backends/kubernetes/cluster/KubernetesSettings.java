package dev.gpush.backends.kubernetes.cluster;

import dev.gpush.backends.kubernetes.api.Access;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.json.Json;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The settings of a cluster in the configuration.
 *
 * @param namespace empty: the context's
 * @param image of the pods
 * @param pythonImage an image with a Python for the agent, if the pods' image has none
 * @param queue of the gang scheduler, such as Kueue's LocalQueue
 * @param topology labels of nodes for their place in the network, the widest first
 * @param gang the gang scheduler, or {@code auto}
 * @param gpuResource such as {@code nvidia.com/gpu}; empty: the one that the nodes have
 * @param gpuNames the value of a node's label for a model
 * @param cpus of each node; 0: the GPUs' share
 * @param labels of the job and its pods
 * @param time the default limit of a gang; empty: no limit beside the lease
 * @param grows the cluster adds nodes when pods wait
 * @param usesFabric gangs of several nodes request the nodes' network devices
 * @param assembly how long a gang may be incomplete before its pods are deleted
 * @param remember how long an ended job is kept
 */
public record KubernetesSettings(
    Access access,
    Optional<String> namespace,
    Optional<String> image,
    Optional<String> pythonImage,
    Optional<String> queue,
    List<String> topology,
    String gang,
    Optional<String> gpuResource,
    Map<String, String> gpuNames,
    int cpus,
    Optional<String> memory,
    Optional<String> shm,
    Map<String, String> labels,
    Map<String, String> annotations,
    Optional<String> patch,
    Optional<Duration> time,
    Optional<Duration> mostTime,
    boolean grows,
    boolean usesFabric,
    Duration assembly,
    Duration remember) {
  private static final Duration ASSEMBLY = Duration.ofMinutes(2);

  /** So that its result can still be read. */
  private static final Duration REMEMBER = Duration.ofMinutes(10);

  public KubernetesSettings {
    topology = List.copyOf(topology);
    gpuNames = Map.copyOf(gpuNames);
    labels = Map.copyOf(labels);
    annotations = Map.copyOf(annotations);
  }

  public static KubernetesSettings of(BackendConfig config) {
    Json.Obj values = config.values();
    Json.Obj pod = values.object("pod");
    return new KubernetesSettings(
        new Access(config.name(), values.text("kubeconfig").map(Path::of), values.text("context")),
        values.text("namespace"),
        values.text("image"),
        values.text("python-image"),
        values.text("queue"),
        values.texts("topology"),
        values.text("gang").orElse("auto"),
        values.object("gpus").text("resource"),
        values.object("gpus").object("names").textMap(),
        Math.toIntExact(values.number("cpus").orElse(0L)),
        values.text("memory"),
        values.text("shm"),
        pod.object("labels").textMap(),
        pod.object("annotations").textMap(),
        pod.text("patch"),
        values.object("time").number("default").map(Duration::ofSeconds),
        values.object("time").number("max").map(Duration::ofSeconds),
        values.flag("grows"),
        !values.text("fabric").orElse("auto").equals("none"),
        values.number("assembly").map(Duration::ofSeconds).orElse(ASSEMBLY),
        values.number("remember").map(Duration::ofSeconds).orElse(REMEMBER));
  }
}
