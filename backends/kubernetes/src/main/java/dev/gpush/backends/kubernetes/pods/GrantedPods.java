package dev.gpush.backends.kubernetes.pods;

import dev.gpush.backends.kubernetes.cluster.KubernetesNode;
import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.backends.kubernetes.cluster.Topology;
import dev.gpush.backends.kubernetes.objects.GangObjects;
import dev.gpush.backends.kubernetes.objects.Jobs;
import dev.gpush.backends.remote.GangTag;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

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
    for (int index = 0; index < tag.facts().nodes(); index++) {
      Json pod = byNode.getOrDefault(index, Json.object());
      var where =
          new GangTag.Place(
              host(pod),
              GangObjects.address(Jobs.name(job), index),
              GangObjects.workspace(tag.facts().requester().project()),
              within.getOrDefault(host(pod), List.of()));
      nodes.add(tag.facts().node(index, where, said.getOrDefault(index, Json.object())));
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
}
