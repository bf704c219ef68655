package dev.gpush.backends.kubernetes.objects;

import dev.gpush.backends.kubernetes.cluster.KubernetesNode;
import dev.gpush.backends.kubernetes.cluster.KubernetesSettings;
import dev.gpush.backends.kubernetes.cluster.PodShape;
import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.backends.kubernetes.cluster.Topology;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.gang.AgentStart;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.PeerSecret;
import dev.gpush.core.json.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The objects of one gang: a Job, and what it owns, a Service for its pods' names and a Secret that
 * the first process of each pod reads. It is a Secret because the user's variables and the key of
 * the agents are in it, which read-only roles must not see.
 */
public final class GangObjects {
  /** The name of the container in which everything runs. */
  public static final String CONTAINER = "gpush";

  static final String WORKSPACES = "/workspace";

  /** The folder of the files that a pod's agent starts from. */
  public static final String OWN = "/run/gpush-agent";

  private static final String SHARED_MEMORY = "/dev/shm";

  /** From TERM to KILL: the time that evictions, drains and preemption leave to save data. */
  static final Duration GRACE = Duration.ofSeconds(45);

  /** The part of it that the agent needs. */
  private static final Duration LAST_WORDS = Duration.ofSeconds(5);

  /** The agents end first; this is a margin for those that cannot. */
  public static final Duration SLACK = Duration.ofSeconds(60);

  private static final int MOST_NAME = 40;

  /** Digits of the gang's id in names. */
  private static final int ID_DIGITS = 8;

  private final GangRequest request;
  private final KubernetesSettings settings;
  private final PodShape shape;
  private final String name;
  private final PodTag tag;
  private final boolean locksMemory;
  private final Topology topology;

  /**
   * For a request that fits.
   *
   * @param locksMemory whether pods there may lock memory, which network devices need
   * @param topology the labels by which pods prefer to be near each other
   */
  public GangObjects(
      GangRequest request,
      KubernetesSettings settings,
      PodShape shape,
      boolean locksMemory,
      Topology topology) {
    this.request = request;
    this.settings = settings;
    this.shape = shape;
    this.name = name(request);
    this.tag = PodTag.of(request, shape);
    this.locksMemory = locksMemory;
    this.topology = topology;
  }

  /** The name of all objects; pods add their number, and users see it in their prompt. */
  public static String name(GangRequest request) {
    String session =
        request
            .requester()
            .session()
            .toLowerCase(Locale.ROOT)
            .replaceAll("[^a-z0-9-]+", "-")
            .replaceFirst("^[^a-z]+", "");
    String begin = session.isEmpty() ? "gang" : session;
    return begin.substring(0, Math.min(MOST_NAME, begin.length())).replaceFirst("-+$", "")
        + "-"
        + request.gang().text().substring(0, ID_DIGITS);
  }

  public String name() {
    return name;
  }

  public int nodes() {
    return request.nodes();
  }

  /** Where pods of the gang reach the one with this number, whatever node it is on by then. */
  public static String address(String name, int index) {
    return name + "-" + index + "." + name;
  }

  public static String workspace(String project) {
    return WORKSPACES + "/" + project;
  }

  /**
   * The suspended Job: its pods start when everything else exists and there is room for them.
   *
   * @param agent the command that becomes the agent, instead of the image's own program
   */
  public Json.Obj job(List<String> agent) {
    Map<String, Object> spec = new TreeMap<>();
    spec.put("completionMode", "Indexed");
    spec.put("completions", request.nodes());
    spec.put("parallelism", request.nodes());
    spec.put("suspend", true);
    // A failed container restarts in the same pod; only the lease limits how often.
    spec.put("backoffLimit", Integer.MAX_VALUE);
    spec.put("podReplacementPolicy", "Failed");
    spec.put("ttlSecondsAfterFinished", settings.times().remember().toSeconds());
    hardEnd().ifPresent(end -> spec.put("activeDeadlineSeconds", end.plus(SLACK).toSeconds()));
    spec.put("template", Json.object("metadata", metadata(Optional.empty()), "spec", pod(agent)));
    Json.Obj job =
        Json.object(
            "apiVersion",
            "batch/v1",
            "kind",
            "Job",
            "metadata",
            metadata(Optional.of(name)),
            "spec",
            spec);
    return settings
        .pod()
        .patch()
        .map(file -> PodPatch.laid(job, PodPatch.read(settings.access().backend(), file)))
        .orElse(job);
  }

  /** How long it may exist, from the request or the settings. */
  private Optional<Duration> hardEnd() {
    return request.lease().hardEnd().or(settings.times()::usual);
  }

  private Json.Obj metadata(Optional<String> named) {
    var labels = new TreeMap<>(settings.pod().labels());
    labels.put(PodTag.MANAGER_LABEL, PodTag.MANAGER);
    labels.put(PodTag.GANG_LABEL, request.gang().text());
    // The proxy of a service mesh would run on after the agent, and the pod with it.
    labels.putIfAbsent("sidecar.istio.io/inject", "false");
    var annotations = new TreeMap<>(settings.pod().annotations());
    annotations.put(PodTag.ANNOTATION, tag.text());
    // The autoscaler must not remove a node because it is idle.
    annotations.putIfAbsent("cluster-autoscaler.kubernetes.io/safe-to-evict", "false");
    annotations.putIfAbsent("karpenter.sh/do-not-disrupt", "true");
    annotations.putIfAbsent("linkerd.io/inject", "disabled");
    Json.Obj metadata = Json.object("labels", labels, "annotations", annotations);
    return named.map(text -> metadata.with("name", text)).orElse(metadata);
  }

  private Json.Obj pod(List<String> agent) {
    Map<String, Object> spec = new TreeMap<>();
    spec.put("restartPolicy", "OnFailure");
    spec.put("subdomain", name);
    spec.put("terminationGracePeriodSeconds", GRACE.toSeconds());
    spec.put("automountServiceAccountToken", false);
    spec.put("enableServiceLinks", false);
    shape
        .resource()
        .ifPresent(
            resource ->
                spec.put(
                    "tolerations", List.of(Json.object("key", resource, "operator", "Exists"))));
    var affinity = new TreeMap<String, Object>();
    if (!shape.terms().isEmpty()) {
      affinity.put(
          "nodeAffinity",
          Json.object(
              "requiredDuringSchedulingIgnoredDuringExecution",
              Json.object("nodeSelectorTerms", shape.terms())));
    }
    if (request.nodes() > 1) {
      topology
          .wish(Json.object(PodTag.GANG_LABEL, request.gang().text()))
          .ifPresent(wish -> affinity.put("podAffinity", wish));
    }
    if (!affinity.isEmpty()) {
      spec.put("affinity", affinity);
    }
    spec.put("containers", List.of(container(agent)));
    settings
        .pod()
        .pythonImage()
        .ifPresent(
            image -> spec.put("initContainers", List.of(PythonInitContainer.container(image))));
    Json.Obj memory = Json.object("medium", "Memory");
    var volumes =
        new ArrayList<>(
            List.of(
                Json.object("name", "gpush-workspace", "emptyDir", Json.object()),
                Json.object(
                    "name",
                    "gpush-shm",
                    "emptyDir",
                    settings
                        .pod()
                        .shm()
                        .map(size -> memory.with("sizeLimit", size))
                        .orElse(memory)),
                Json.object(
                    "name",
                    "gpush-agent",
                    "secret",
                    Json.object("secretName", name, "defaultMode", 0444))));
    settings.pod().pythonImage().ifPresent(_ -> volumes.add(PythonInitContainer.volume()));
    volumes.addAll(PodVolumes.volumes(request.data()));
    spec.put("volumes", volumes);
    return new Json.Obj(Json.of(spec).entries());
  }

  private Json.Obj container(List<String> agent) {
    var requests = new TreeMap<String, String>();
    var limits = new TreeMap<String, String>();
    if (shape.cpuMillis() > 0) {
      requests.put(KubernetesNode.CPU, shape.cpuMillis() + "m");
    }
    if (shape.memoryBytes() > 0) {
      requests.put("memory", Long.toString(shape.memoryBytes()));
    }
    shape.resource().ifPresent(name -> limits.put(name, Integer.toString(shape.gpus())));
    shape.fabric().forEach((device, count) -> limits.put(device, Long.toString(count)));
    var env = new ArrayList<Json>();
    if (shape.resource().isEmpty()) {
      // CUDA images ask for all GPUs of the node, and some container runtimes provide them.
      env.add(Json.object("name", "NVIDIA_VISIBLE_DEVICES", "value", "void"));
    }
    var mounts =
        new ArrayList<>(
            List.of(
                Json.object("name", "gpush-workspace", "mountPath", WORKSPACES),
                Json.object("name", "gpush-shm", "mountPath", SHARED_MEMORY),
                Json.object("name", "gpush-agent", "mountPath", OWN, "readOnly", true)));
    settings.pod().pythonImage().ifPresent(_ -> mounts.add(PythonInitContainer.mount()));
    mounts.addAll(PodVolumes.mounts(request.data()));
    Json.Obj container =
        Json.object(
            "name",
            CONTAINER,
            "image",
            request.options().image().or(settings.pod()::image).orElseThrow(),
            "command",
            agent,
            "env",
            env,
            "resources",
            Json.object("requests", requests, "limits", limits),
            "volumeMounts",
            mounts);
    return shape.fabric().isEmpty() || !locksMemory
        ? container
        : container.with(
            "securityContext",
            Json.object("capabilities", Json.object("add", List.of("IPC_LOCK"))));
  }

  // ---- what the Job owns

  private Json.Obj owned(Json job) {
    return metadata(Optional.of(name)).with("ownerReferences", List.of(owner(job)));
  }

  /** The owner reference of objects that are deleted with the Job. */
  public static Json.Obj owner(Json job) {
    return Json.object(
        "apiVersion",
        "batch/v1",
        "kind",
        "Job",
        "name",
        Jobs.name(job),
        "uid",
        job.object("metadata").text("uid").orElse(""));
  }

  /** An object for a gang scheduler, owned by the Job. */
  public Json.Obj owned(Json job, String apiVersion, String kind, Json.Obj spec) {
    return Json.object(
        "apiVersion", apiVersion, "kind", kind, "metadata", owned(job), "spec", spec);
  }

  /** Names for the pods, also for those that are not ready yet. */
  public Json.Obj service(Json job) {
    return owned(
        job,
        "v1",
        "Service",
        Json.object(
            "clusterIP",
            "None",
            "publishNotReadyAddresses",
            true,
            "selector",
            Json.object(PodTag.GANG_LABEL, request.gang().text())));
  }

  public Json.Obj secret(Json job, AgentProgram agent, PeerSecret peers) {
    var variables = new HashMap<>(request.environment());
    if (shape.resource().isPresent()) {
      variables.put("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    }
    request.data().home().ifPresent(home -> variables.put("HOME", home));
    String workspace = workspace(request.requester().project());
    Json.Obj lease = request.lease().json();
    Json.Obj start =
        AgentStart.of(request)
            .with("workspace", workspace)
            .with("state", workspace + ".gpush")
            .with("env_own", true)
            .with("env_over", variables)
            .with("home", request.data().home())
            .with(
                "lease", hardEnd().map(end -> lease.with("hard_s", end.toSeconds())).orElse(lease))
            .with("peers", peers.onHosts())
            .with("foreground", true)
            .with("guard", true)
            // Its volume outlives the container, and ends with the pod.
            .with("memory", SHARED_MEMORY)
            .with("taken_s", GRACE.minus(LAST_WORDS).toSeconds());
    var data = new TreeMap<String, String>();
    agent
        .files(AgentStart.header(request, "JOB_COMPLETION_INDEX", start))
        .forEach((name, bytes) -> data.put(name, Base64.getEncoder().encodeToString(bytes)));
    return Json.object(
        "apiVersion",
        "v1",
        "kind",
        "Secret",
        "type",
        "gpush.dev/agent",
        "immutable",
        true,
        "metadata",
        owned(job),
        "data",
        data);
  }
}
