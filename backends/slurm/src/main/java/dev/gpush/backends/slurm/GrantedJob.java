package dev.gpush.backends.slurm;

import dev.gpush.backends.slurm.cluster.HostList;
import dev.gpush.backends.slurm.cluster.SlurmJob;
import dev.gpush.backends.slurm.cluster.SlurmNode;
import dev.gpush.backends.slurm.request.JobTag;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

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
      nodes.add(
          new NodeInfo(
              index,
              host,
              addresses.getOrDefault(host, host),
              slots(statuses.getOrDefault(index, Json.object())),
              tag.gpus() == 0 ? "" : tag.gpuModel(),
              tag.cpus(),
              tag.workspace(index)));
    }
    return new Gang(id, backend, nodes, job.words());
  }

  /** The GPUs as the agent's step sees them: with or without the cluster's device cgroups. */
  private List<String> slots(Json status) {
    if (tag.gpus() == 0) {
      return List.of("0");
    }
    List<String> devices = status.texts("devices");
    return devices.size() == tag.gpus()
        ? devices
        : IntStream.range(0, tag.gpus()).mapToObj(Integer::toString).toList();
  }
}
