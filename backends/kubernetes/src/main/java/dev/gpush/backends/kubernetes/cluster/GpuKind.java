package dev.gpush.backends.kubernetes.cluster;

import dev.gpush.backends.remote.GpuName;
import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** The names of GPUs in clusters: resources for the count, labels for the model. */
public final class GpuKind {
  /** The resource to request when the nodes may not be listed. */
  public static final String USUAL = "nvidia.com/gpu";

  /** Whole devices first: if a node has two, a plain number means the earlier one. */
  private static final List<Pattern> RESOURCES =
      List.of(
          Pattern.compile(Pattern.quote(USUAL)),
          Pattern.compile("amd\\.com/gpu"),
          Pattern.compile("google\\.com/tpu"),
          Pattern.compile("habana\\.ai/gaudi"),
          Pattern.compile("aws\\.amazon\\.com/neuron"),
          Pattern.compile("gpu\\.intel\\.com/(i915|xe)"),
          Pattern.compile("nvidia\\.com/gpu\\.shared"),
          Pattern.compile("nvidia\\.com/mig-.+"));

  /** Labels of GPU feature discovery, of clouds, and of their autoscalers. */
  private static final List<String> LABELS =
      List.of(
          "nvidia.com/gpu.product",
          "gpu.nvidia.com/model",
          "gpu.nvidia.com/class",
          "cloud.google.com/gke-accelerator",
          "cloud.google.com/gke-tpu-accelerator",
          "nebius.com/gpu-name",
          "karpenter.k8s.aws/instance-gpu-name",
          "skypilot.co/accelerator",
          "amd.com/gpu.product-name",
          "beta.amd.com/gpu.product-name",
          "amd.com/gpu.family",
          "beta.amd.com/gpu.family");

  private GpuKind() {}

  /** The resource of a node that a plain number of GPUs means. */
  public static Optional<String> resource(KubernetesNode node) {
    return RESOURCES.stream()
        .flatMap(
            rule ->
                new TreeSet<>(node.has().keySet())
                    .stream().filter(name -> rule.matcher(name).matches() && node.has(name) > 0))
        .findFirst();
  }

  /** The entry of a container's limits that counts its GPUs. */
  public static Optional<Map.Entry<String, Long>> counted(Map<String, Long> limits) {
    return RESOURCES.stream()
        .flatMap(
            rule ->
                new TreeMap<>(limits)
                    .entrySet().stream()
                        .filter(each -> rule.matcher(each.getKey()).matches())
                        .filter(each -> each.getValue() > 0))
        .findFirst();
  }

  /** The resource of a node that this model is, if it has it: a slice, or the GPUs of its label. */
  public static Optional<String> resource(KubernetesNode node, String model) {
    String slice = "nvidia.com/" + model.toLowerCase(Locale.ROOT);
    if (node.has(slice) > 0) {
      return Optional.of(slice);
    }
    return resource(node).filter(_ -> !naming(node, model).isEmpty());
  }

  /** The labels of a node that name this GPU model. */
  public static Map<String, String> naming(KubernetesNode node, String model) {
    var naming = new TreeMap<String, String>();
    for (String label : LABELS) {
      String value = node.labels().getOrDefault(label, "");
      if (new GpuName(model).isNamedBy(value)) {
        naming.put(label, value);
      }
    }
    return naming;
  }

  /** The common name of a node's GPUs: "H100"; "GPU" if no label has it. */
  public static String model(KubernetesNode node) {
    return LABELS.stream()
        .map(label -> node.labels().getOrDefault(label, ""))
        .filter(value -> !value.isEmpty())
        .findFirst()
        .map(GpuName::ofLabel)
        .orElse("GPU");
  }

  /**
   * Terms for node selection, one of which must hold.
   *
   * @param labels each with its accepted values
   */
  public static List<Json> terms(Map<String, ? extends Iterable<String>> labels) {
    var terms = new ArrayList<Json>();
    labels.forEach(
        (label, values) -> {
          var all = new ArrayList<String>();
          values.forEach(all::add);
          terms.add(
              Json.object(
                  "matchExpressions",
                  List.of(Json.object("key", label, "operator", "In", "values", all))));
        });
    return terms;
  }
}
