package dev.gpush.backends.kubernetes.cluster;

import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The labels of nodes that give their part of the network: those of the configuration, else those
 * of a provider that all nodes have. Gangs prefer one part, and ranks are numbered by them.
 *
 * @param labels the widest part first
 */
public record Topology(List<String> labels) {
  /** The labels of each provider, the widest first. */
  private static final List<List<String>> KNOWN =
      List.of(
          List.of("cloud.google.com/gce-topology-block", "cloud.google.com/gce-topology-subblock"),
          List.of(
              "topology.k8s.aws/network-node-layer-1",
              "topology.k8s.aws/network-node-layer-2",
              "topology.k8s.aws/network-node-layer-3"),
          List.of(
              "backend.coreweave.cloud/superpod",
              "backend.coreweave.cloud/leafgroup",
              "ds.coreweave.com/nvlink.domain"),
          List.of("topology.kubernetes.io/zone", "nvidia.com/gpu.clique"),
          List.of("nvidia.com/gpu.clique"),
          List.of("topology.kubernetes.io/zone"));

  private static final int WEIGHT = 100;

  public Topology {
    labels = List.copyOf(labels);
  }

  /** Empty if nodes may not be listed and the configuration names no labels. */
  public static Topology of(KubernetesSettings settings, Optional<List<KubernetesNode>> nodes) {
    if (!settings.scheduling().topology().isEmpty()) {
      return new Topology(settings.scheduling().topology());
    }
    return nodes
        .filter(all -> !all.isEmpty())
        .flatMap(
            all ->
                KNOWN.stream()
                    .filter(
                        labels ->
                            all.stream()
                                .allMatch(node -> node.labels().keySet().containsAll(labels)))
                    .findFirst())
        .map(Topology::new)
        .orElse(new Topology(List.of()));
  }

  /** The parts that a node is in. */
  public List<String> of(KubernetesNode node) {
    return labels.stream().map(label -> node.labels().getOrDefault(label, "")).toList();
  }

  /** A preference for the scheduler, not a condition: pods of one gang near each other. */
  public Optional<Json.Obj> wish(Json selector) {
    if (labels.isEmpty()) {
      return Optional.empty();
    }
    var wishes = new ArrayList<Json>();
    for (int index = 0; index < labels.size(); index++) {
      wishes.add(
          Json.object(
              "weight",
              WEIGHT * (index + 1) / labels.size(),
              "podAffinityTerm",
              Json.object(
                  "topologyKey",
                  labels.get(index),
                  "labelSelector",
                  Json.object("matchLabels", selector))));
    }
    return Optional.of(Json.object("preferredDuringSchedulingIgnoredDuringExecution", wishes));
  }
}
