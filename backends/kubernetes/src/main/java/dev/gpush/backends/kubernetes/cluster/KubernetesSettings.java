package dev.gpush.backends.kubernetes.cluster;

import dev.gpush.backends.kubernetes.api.Access;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.json.Json;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What a block of the configuration says of a cluster. */
public record KubernetesSettings(
    Access access,
    Optional<String> namespace,
    Pod pod,
    Scheduling scheduling,
    Resources resources,
    Times times) {
  private static final Duration ASSEMBLY = Duration.ofMinutes(2);

  /** Long enough for a user to find out what became of it. */
  private static final Duration REMEMBER = Duration.ofMinutes(10);

  /**
   * What pods are made of.
   *
   * @param image what they run, where the project has none of its own
   * @param pythonImage whose Python the agent has where the pods' image has none
   * @param shm the size of /dev/shm; empty: the pod's memory
   * @param labels of job and pods
   * @param annotations of job and pods
   * @param patch a file with more of a Job's YAML
   */
  public record Pod(
      Optional<String> image,
      Optional<String> pythonImage,
      Optional<String> shm,
      Map<String, String> labels,
      Map<String, String> annotations,
      Optional<String> patch) {
    public Pod {
      labels = Map.copyOf(labels);
      annotations = Map.copyOf(annotations);
    }

    private static Pod of(Json.Obj values) {
      Json.Obj pod = values.object("pod");
      return new Pod(
          values.text("image"),
          values.text("python-image"),
          values.text("shm"),
          pod.object("labels").textMap(),
          pod.object("annotations").textMap(),
          pod.text("patch"));
    }
  }

  /**
   * How the pods of a gang are placed.
   *
   * @param system which one schedules gangs there, or {@code auto}
   * @param queue of that system, such as Kueue's LocalQueue
   * @param topology labels of nodes that say where in the network they are, the widest first
   * @param grows a node may be added when pods wait for one
   * @param assembly how long pods may be placed one by one before all are taken back
   */
  public record Scheduling(
      String system,
      Optional<String> queue,
      List<String> topology,
      boolean grows,
      Duration assembly) {
    public Scheduling {
      topology = List.copyOf(topology);
    }

    private static Scheduling of(Json.Obj values) {
      return new Scheduling(
          values.text("gang").orElse("auto"),
          values.text("queue"),
          values.texts("topology"),
          values.flag("grows"),
          values.number("assembly").map(Duration::ofSeconds).orElse(ASSEMBLY));
    }
  }

  /**
   * What each node has.
   *
   * @param gpuResource such as {@code nvidia.com/gpu}; empty: what the nodes have
   * @param gpuNames the value of a node's label that stands for a model
   * @param cpus 0: the GPUs' share
   * @param memory empty: the GPUs' share
   * @param usesFabric gangs of several nodes ask for the network devices that nodes have
   */
  public record Resources(
      Optional<String> gpuResource,
      Map<String, String> gpuNames,
      int cpus,
      Optional<String> memory,
      boolean usesFabric) {
    public Resources {
      gpuNames = Map.copyOf(gpuNames);
    }

    private static Resources of(Json.Obj values) {
      Json.Obj gpus = values.object("gpus");
      return new Resources(
          gpus.text("resource"),
          gpus.object("names").textMap(),
          values.integer("cpus").orElse(0),
          values.text("memory"),
          !values.text("fabric").orElse("auto").equals("none"));
    }
  }

  /**
   * How long things last.
   *
   * @param usual of a gang without --for; empty: until its agents let go
   * @param most the longest --for; empty: any
   * @param remember how long a job that has ended stays
   */
  public record Times(Optional<Duration> usual, Optional<Duration> most, Duration remember) {
    private static Times of(Json.Obj values) {
      Json.Obj time = values.object("time");
      return new Times(
          time.number("default").map(Duration::ofSeconds),
          time.number("max").map(Duration::ofSeconds),
          values.number("remember").map(Duration::ofSeconds).orElse(REMEMBER));
    }
  }

  /** The same pods in the place of a gang, wherever the kubeconfig leads now. */
  public KubernetesSettings at(ClusterPlace there) {
    return new KubernetesSettings(
        access.at(there.context(), there.server()),
        Optional.of(there.namespace()),
        pod,
        scheduling,
        resources,
        times);
  }

  public static KubernetesSettings of(BackendConfig config) {
    Json.Obj values = config.values();
    return new KubernetesSettings(
        new Access(config.name(), values.text("kubeconfig").map(Path::of), values.text("context")),
        values.text("namespace"),
        Pod.of(values),
        Scheduling.of(values),
        Resources.of(values),
        Times.of(values));
  }
}
