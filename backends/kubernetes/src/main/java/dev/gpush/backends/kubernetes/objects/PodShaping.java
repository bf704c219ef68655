package dev.gpush.backends.kubernetes.objects;

import dev.gpush.backends.kubernetes.cluster.ClusterRoom;
import dev.gpush.backends.kubernetes.cluster.Fabric;
import dev.gpush.backends.kubernetes.cluster.GpuKind;
import dev.gpush.backends.kubernetes.cluster.KubernetesNode;
import dev.gpush.backends.kubernetes.cluster.KubernetesSettings;
import dev.gpush.backends.kubernetes.cluster.PodShape;
import dev.gpush.backends.kubernetes.cluster.Quantity;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.Phrase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Turns a request into pods, or finds the reason why this cluster can never run them. */
public final class PodShaping {
  /** Of the GPUs' share of a node, because system pods need some of it too. */
  private static final int PER_CENT = 95;

  /** The CPUs of a pod without GPUs, unless the configuration asks for more. */
  private static final long CPU_NODE_MILLIS = 1000;

  private static final long CPU_STEP = 10;
  private static final long MEMORY_STEP = 1 << 20;

  /** Taints of this prefix are temporary: a node with one is expected back. */
  private static final String PASSING = "node.kubernetes.io/";

  private final GangRequest request;
  private final KubernetesSettings settings;
  private final ClusterRoom room;

  public PodShaping(GangRequest request, KubernetesSettings settings, ClusterRoom room) {
    this.request = request;
    this.settings = settings;
    this.room = room;
  }

  public sealed interface Result {
    /**
     * It can run.
     *
     * @param nodes that could run a part of it, if they were free; empty if they may not be listed
     */
    record Fits(PodShape shape, Optional<List<KubernetesNode>> nodes) implements Result {
      /** How many pods there is room for now; empty if that is not known. */
      public Optional<Long> places() {
        return nodes.map(
            all ->
                all.stream()
                    .filter(KubernetesNode::isSchedulable)
                    .mapToLong(node -> node.places(shape.wants(), false))
                    .sum());
      }
    }

    record Hopeless(String reason, List<String> works) implements Result {}
  }

  public Result result() {
    Optional<Duration> asked = request.lease().hardEnd();
    Optional<Duration> most = settings.times().most();
    if (asked.isPresent() && most.isPresent() && asked.get().compareTo(most.get()) > 0) {
      String longest = DurationText.exact(most.get());
      return new Result.Hopeless(
          "the configuration allows at most " + longest, List.of("--for " + longest));
    }
    Optional<Long> memory = settings.resources().memory().flatMap(Quantity::whole);
    if (settings.resources().memory().isPresent() && memory.isEmpty()) {
      return new Result.Hopeless(
          "memory: " + ClusterText.clean(settings.resources().memory().get()) + " is no amount",
          List.of("memory: 64Gi"));
    }
    if (request.options().image().or(settings.pod()::image).isEmpty()) {
      return new Result.Hopeless(
          "its pods need an image",
          List.of(
              "image: ghcr.io/acme/train:stable in gpush.yaml",
              "the same in its block of ~/.gpush/config.yaml"));
    }
    return room.nodes().isPresent() ? seen(room.nodes().get()) : unseen();
  }

  // ---- where nodes may not be listed

  private Result unseen() {
    if (request.gpus().isNone()) {
      return new Result.Fits(shape(Optional.empty(), List.of(), "", 0, 0), Optional.empty());
    }
    String resource = settings.resources().gpuResource().orElse(GpuKind.USUAL);
    Optional<String> model = request.gpus().model();
    Optional<Label> label = model.flatMap(this::configured);
    if (model.isPresent() && label.isEmpty()) {
      return new Result.Hopeless(
          "you may not list its nodes, so gpush cannot find out which of them have " + model.get(),
          List.of(
              "--gpus " + request.gpus().count(),
              "gpus: {names: {"
                  + model.get()
                  + ": LABEL=VALUE}} in its block of ~/.gpush/config.yaml"));
    }
    return new Result.Fits(
        shape(
            Optional.of(resource),
            GpuKind.terms(
                label.map(each -> Map.of(each.key(), List.of(each.value()))).orElse(Map.of())),
            model.orElse("GPU"),
            0,
            0),
        Optional.empty());
  }

  private record Label(String key, String value) {}

  /** The label in the configuration: {@code LABEL=VALUE}, or a value of NVIDIA's own label. */
  private Optional<Label> configured(String model) {
    return Optional.ofNullable(settings.resources().gpuNames().get(model))
        .map(
            text -> {
              int equals = text.indexOf('=');
              return equals > 0
                  ? new Label(text.substring(0, equals), text.substring(equals + 1))
                  : new Label("nvidia.com/gpu.product", text);
            });
  }

  // ---- where they may

  private Result seen(List<KubernetesNode> nodes) {
    if (request.gpus().isNone()) {
      long cpu =
          settings.resources().cpus() > 0 ? settings.resources().cpus() * 1000L : CPU_NODE_MILLIS;
      long memory = settings.resources().memory().flatMap(Quantity::whole).orElse(0L);
      return fits(
          shape(Optional.empty(), List.of(), "", cpu, memory),
          nodes.stream().filter(node -> tolerates(node, "")).toList());
    }
    TreeMap<String, List<KubernetesNode>> byResource =
        nodes.stream()
            .filter(node -> resource(node).isPresent())
            .collect(
                Collectors.groupingBy(
                    node -> resource(node).orElseThrow(), TreeMap::new, Collectors.toList()));
    if (byResource.isEmpty()) {
      return none(nodes);
    }
    // Of several, the one with the most nodes.
    String resource =
        byResource.entrySet().stream()
            .max((a, b) -> Integer.compare(a.getValue().size(), b.getValue().size()))
            .orElseThrow()
            .getKey();
    List<KubernetesNode> having = byResource.getOrDefault(resource, List.of());
    List<KubernetesNode> open = having.stream().filter(node -> tolerates(node, resource)).toList();
    if (open.isEmpty()) {
      return new Result.Hopeless(
          "the nodes that have it are kept free by taints: "
              + ClusterText.list(
                  having.stream().flatMap(node -> node.taints().stream()).distinct().toList()),
          List.of("pod: {patch: FILE} with tolerations for them"));
    }
    long most = open.stream().mapToLong(node -> node.has(resource)).max().orElse(0);
    int count = request.gpus().count();
    if (count > most) {
      return new Result.Hopeless(
          "no node there has more than " + most + " of " + resource,
          List.of("--gpus " + request.gpus().model().map(name -> name + ":").orElse("") + most));
    }
    List<KubernetesNode> large = open.stream().filter(node -> node.has(resource) >= count).toList();
    return fits(
        shape(
                Optional.of(resource),
                GpuKind.terms(naming(large)),
                request.gpus().model().orElseGet(() -> GpuKind.model(large.getFirst())),
                share(large, resource, KubernetesNode.CPU, CPU_STEP),
                share(large, resource, "memory", MEMORY_STEP))
            .with(
                request.nodes() > 1 && settings.resources().usesFabric()
                    ? Fabric.of(large, resource, count)
                    : Map.of()),
        large);
  }

  private Optional<String> resource(KubernetesNode node) {
    Optional<String> model = request.gpus().model();
    if (settings.resources().gpuResource().isPresent()) {
      return settings.resources().gpuResource().filter(name -> node.has(name) > 0 && isModel(node));
    }
    if (model.isPresent() && configured(model.get()).isPresent()) {
      return GpuKind.resource(node).filter(_ -> isModel(node));
    }
    return model.map(name -> GpuKind.resource(node, name)).orElseGet(() -> GpuKind.resource(node));
  }

  private boolean isModel(KubernetesNode node) {
    Optional<String> model = request.gpus().model();
    return model.isEmpty()
        || configured(model.get())
            .map(label -> node.labels().getOrDefault(label.key(), "").equals(label.value()))
            .orElseGet(() -> !GpuKind.naming(node, model.get()).isEmpty());
  }

  /** Labels of these nodes for the requested model; none if no model was requested. */
  private Map<String, Set<String>> naming(List<KubernetesNode> nodes) {
    var naming = new TreeMap<String, Set<String>>();
    request
        .gpus()
        .model()
        .ifPresent(
            model -> {
              Optional<Label> label = configured(model);
              if (label.isPresent()) {
                naming.put(label.get().key(), new TreeSet<>(List.of(label.get().value())));
                return;
              }
              for (KubernetesNode node : nodes) {
                GpuKind.naming(node, model)
                    .forEach(
                        (key, value) ->
                            naming.computeIfAbsent(key, _ -> new TreeSet<>()).add(value));
              }
            });
    return naming;
  }

  private boolean tolerates(KubernetesNode node, String resource) {
    return settings.pod().patch().isPresent()
        || node.taints().stream().allMatch(key -> key.equals(resource) || key.startsWith(PASSING));
  }

  /** The GPUs' share of the smallest of these nodes. */
  private long share(List<KubernetesNode> nodes, String resource, String of, long step) {
    long least =
        nodes.stream()
            .mapToLong(
                node -> node.has(of) / node.has(resource) * request.gpus().count() * PER_CENT / 100)
            .min()
            .orElse(0);
    return least / step * step;
  }

  private PodShape shape(
      Optional<String> resource, List<Json> terms, String model, long cpuMillis, long memoryBytes) {
    return new PodShape(
        resource,
        request.gpus().count(),
        terms,
        model,
        settings.resources().cpus() > 0 ? settings.resources().cpus() * 1000L : cpuMillis,
        settings.resources().memory().flatMap(Quantity::whole).orElse(memoryBytes),
        Map.of());
  }

  private Result fits(PodShape shape, List<KubernetesNode> nodes) {
    long places = nodes.stream().mapToLong(node -> node.places(shape.wants(), true)).sum();
    if (places < request.nodes() && !settings.scheduling().grows()) {
      String each = shape.resource().isPresent() ? " with " + what(shape) : "";
      return new Result.Hopeless(
          "there is room for "
              + Phrase.counted(places, "node")
              + each
              + ", not for "
              + request.nodes()
              + ", even on an empty cluster",
          places > 0
              ? List.of("--nodes " + places)
              : List.of("fewer cpus: or memory: in its block of ~/.gpush/config.yaml"));
    }
    return new Result.Fits(shape, Optional.of(nodes));
  }

  private static String what(PodShape shape) {
    return Phrase.counted(shape.gpus(), shape.gpuModel());
  }

  private Result none(List<KubernetesNode> nodes) {
    List<String> there =
        nodes.stream()
            .filter(node -> GpuKind.resource(node).isPresent())
            .map(
                node ->
                    "--gpus "
                        + GpuKind.model(node).replace("GPU", "")
                        + (GpuKind.model(node).equals("GPU") ? "" : ":")
                        + node.has(GpuKind.resource(node).orElseThrow()))
            .distinct()
            .sorted()
            .limit(8)
            .toList();
    return new Result.Hopeless(
        "no node there has "
            + request.gpus().model().orElse("GPUs")
            + (there.isEmpty() ? "; gpush recognizes no GPUs there" : ""),
        there.isEmpty() ? List.of("gpus: {resource: NAME} in its block, or no --gpus") : there);
  }
}
