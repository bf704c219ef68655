package dev.gpush.backends.slurm;

import dev.gpush.backends.remote.GangTag;
import dev.gpush.backends.slurm.cluster.HostList;
import dev.gpush.backends.slurm.cluster.SlurmJob;
import dev.gpush.backends.slurm.cluster.SlurmNode;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Makes a gang from a running job whose agents answer. */
record GrantedJob(String backend, GangId id, SlurmJob job, JobTag tag) {
  List<String> hosts() {
    return HostList.expand(job.nodes());
  }

  /**
   * @param cluster facts of its nodes, for their addresses
   * @param statuses each agent's answer
   */
  Gang gang(List<SlurmNode> cluster, Map<Integer, Json> statuses) {
    var addresses = new HashMap<String, String>();
    cluster.forEach(node -> addresses.put(node.name(), node.address()));
    var nodes = new ArrayList<NodeInfo>();
    List<String> hosts = hosts();
    for (int index = 0; index < hosts.size(); index++) {
      String host = hosts.get(index);
      var place =
          new GangTag.Place(
              host, addresses.getOrDefault(host, host), tag.workspace(index), List.of());
      nodes.add(tag.gang().node(index, place, statuses.getOrDefault(index, Json.object())));
    }
    return new Gang(id, backend, nodes, job.words());
  }
}
