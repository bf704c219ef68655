package dev.gpush.backends.kubernetes;

import dev.gpush.core.backend.Gang;
import dev.gpush.core.backend.GangId;
import dev.gpush.core.backend.NodeInfo;
import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** What a Job with answering agents amounts to as a gang. */
record Grant(Place place, Json job) {
  Tag tag() {
    return Tag.of(job)
        .orElseThrow(() -> new IllegalStateException("a job of ours without our annotation"));
  }

  static String detail(Place place, Json job) {
    return "job " + Jobs.name(job) + " in " + place.namespace();
  }

  /**
   * @param said what each agent said
   */
  Gang gang(Pods pods, Map<Integer, Json> said) {
    Tag tag = tag();
    Map<Integer, Json> byNode = pods.byNode();
    var nodes = new ArrayList<NodeInfo>();
    for (int index = 0; index < tag.nodes(); index++) {
      Json pod = byNode.getOrDefault(index, Json.object());
      nodes.add(
          new NodeInfo(
              index,
              pod.object("spec").text("nodeName").orElse(""),
              Manifest.address(Jobs.name(job), index),
              slots(tag, said.getOrDefault(index, Json.object())),
              tag.gpus() == 0 ? "" : tag.gpuModel(),
              tag.cpus(),
              Manifest.workspace(tag.project())));
    }
    return new Gang(new GangId(tag.gang()), place.name(), nodes, detail(place, job));
  }

  /** In a container GPUs are counted from 0, unless a variable of the device plugin says better. */
  private static List<String> slots(Tag tag, Json status) {
    if (tag.gpus() == 0) {
      return List.of("0");
    }
    List<String> devices = status.texts("devices");
    return devices.size() == tag.gpus()
        ? devices
        : IntStream.range(0, tag.gpus()).mapToObj(Integer::toString).toList();
  }
}
