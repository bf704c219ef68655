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
 * What a block of the configuration says of a cluster.
 *
 * @param namespace empty: the context's
 * @param image what pods run
 * @param pythonImage whose Python the agent has where the pods' image has none
 * @param queue of the system that schedules gangs there, such as Kueue's LocalQueue
 * @param topology labels of nodes that say where in the network they are, the widest first
 * @param gang which system that is, or {@code auto}
 * @param gpuResource such as {@code nvidia.com/gpu}; empty: what the nodes have
 * @param gpuNames the value of a node's label that stands for a model
 * @param cpus of each node; 0: the GPUs' share
 * @param labels of job and pods
 * @param time of a gang for which nobody says how long; empty: as long as its agents like
 * @param grows a node may be added when pods wait for one
 * @param usesFabric gangs of several nodes ask for the network devices that nodes have
 * @param assembly how long pods may be placed one by one before all are taken back
 * @param remember how long a job that has ended stays
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

  /** Somebody may want to know what became of it. */
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
