package dev.gpush.launch.check;

import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricFinding.Severity;
import dev.gpush.core.fabric.NodeSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** On which GPUs CUDA does not start. */
final class CudaRule {
  private static final String COST = "a rank on it fails as soon as it uses the GPU";

  private CudaRule() {}

  /**
   * What is wrong.
   *
   * @param replies of the nodes that were asked, by number
   * @param slots how many GPUs the session has on each of them
   */
  static List<FabricFinding> findings(
      Map<Integer, CudaReply> replies, Map<Integer, Integer> slots) {
    var findings = new ArrayList<FabricFinding>();
    new TreeMap<>(replies)
        .forEach(
            (node, reply) -> {
              switch (reply) {
                case CudaReply.Started(var errors) -> {
                  for (int gpu = 0; gpu < errors.size(); gpu++) {
                    String where = "node " + node + ", GPU " + gpu;
                    errors
                        .get(gpu)
                        .ifPresent(
                            why ->
                                findings.add(
                                    failed(node, where + ": CUDA does not start: " + why)));
                  }
                  int wanted = slots.getOrDefault(node, 0);
                  if (errors.size() < wanted) {
                    findings.add(
                        failed(
                            node,
                            "node "
                                + node
                                + ": CUDA sees "
                                + errors.size()
                                + " of "
                                + wanted
                                + " GPUs"));
                  }
                }
                case CudaReply.Dead(var why) ->
                    findings.add(failed(node, "node " + node + ": CUDA does not start: " + why));
                case CudaReply.Untried(var why) ->
                    findings.add(
                        new FabricFinding(
                            Severity.WARNING,
                            "not-checked",
                            NodeSet.of(node),
                            "node " + node + ": CUDA was not started: " + why,
                            "what is wrong there is not seen",
                            ""));
              }
            });
    return findings;
  }

  private static FabricFinding failed(int node, String what) {
    return new FabricFinding(
        Severity.REFUSED,
        "no-cuda",
        NodeSet.of(node),
        what,
        COST,
        "gpush exec --on " + node + " nvidia-smi -q shows the state of its GPUs");
  }
}
