package dev.gpush.backends.kubernetes.pods;

import dev.gpush.backends.kubernetes.cluster.KubernetesNode;
import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.backends.kubernetes.cluster.Topology;
import dev.gpush.backends.kubernetes.objects.GangObjects;
import dev.gpush.backends.kubernetes.objects.Jobs;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Makes a gang from a Job whose agents answer. */
public record GrantedPods(Namespace place, Json job) {
  PodTag tag() {
    return PodTag.of(job)
        .orElseThrow(() -> new IllegalStateException("a job of ours without our annotation"));
  }

  public static String detail(Namespace place, Json job) {
    return "job " + Jobs.name(job) + " in " + place.namespace();
  }

  /**
   * The gang of these pods.
   *
   * @param said each agent's answer
   * @param all the cluster's nodes, if they may be listed
   */
  public Gang gang(Pods pods, Map<Integer, Json> said, Optional<List<KubernetesNode>> all) {
    PodTag tag = tag();
    Map<Integer, Json> byNode = pods.byNode();
    Map<String, List<String>> within = within(byNode, all);
    var nodes = new ArrayList<NodeInfo>();
    for (int index = 0; index < tag.nodes(); index++) {
      Json pod = byNode.getOrDefault(index, Json.object());
      nodes.add(
          new NodeInfo(
              index,
              host(pod),
              GangObjects.address(Jobs.name(job), index),
              slots(tag.gpus(), said.getOrDefault(index, Json.object())),
              tag.gpus() == 0 ? "" : tag.gpuModel(),
              tag.cpus(),
              GangObjects.workspace(tag.requester().project()),
              within.getOrDefault(host(pod), List.of())));
    }
    return new Gang(new GangId(tag.gang()), place.name(), nodes, detail(place, job));
  }

  static String host(Json pod) {
    return pod.object("spec").text("nodeName").orElse("");
  }

  /** Where in the network the nodes of these pods are. */
  private Map<String, List<String>> within(
      Map<Integer, Json> pods, Optional<List<KubernetesNode>> all) {
    List<String> hosts = pods.values().stream().map(GrantedPods::host).toList();
    Optional<List<KubernetesNode>> nodes =
        all.map(each -> each.stream().filter(node -> hosts.contains(node.name())).toList());
    Topology topology = Topology.of(place.settings(), nodes);
    return nodes.orElse(List.of()).stream()
        .collect(Collectors.toUnmodifiableMap(KubernetesNode::name, topology::of));
  }

  /**
   * In a container GPUs are numbered from 0, unless a variable of the device plugin has other
   * names.
   */
  static List<String> slots(int gpus, Json status) {
    if (gpus == 0) {
      return List.of("0");
    }
    List<String> devices = status.texts("devices");
    return devices.size() == gpus
        ? devices
        : IntStream.range(0, gpus).mapToObj(Integer::toString).toList();
  }
}
