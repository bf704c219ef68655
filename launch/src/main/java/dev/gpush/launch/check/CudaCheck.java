package dev.gpush.launch.check;

import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricFinding.Severity;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.text.Resource;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.MarkedLine;
import dev.gpush.launch.node.NodeCalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Starts CUDA on the GPUs of some nodes, in the user's interpreter. */
final class CudaCheck {
  /** Above what cuda.py allows itself: 30 s to count the GPUs and 30 s to start them. */
  private static final Duration LIMIT = Duration.ofSeconds(70);

  private final LaunchSite site;
  private final Tasks tasks;
  private final String program = Resource.text(CudaCheck.class, "cuda.py");

  CudaCheck(LaunchSite site, Tasks tasks) {
    this.site = site;
    this.tasks = tasks;
  }

  /**
   * On which GPUs it does not start, in the order of the nodes.
   *
   * @param slots of the nodes that are asked: how many GPUs the session has there
   */
  List<FabricFinding> findings(
      Map<Integer, Integer> slots, List<NodePython> pythons, Map<String, String> environment)
      throws InterruptedException {
    return tasks
        .each(
            "check-cuda",
            List.copyOf(new TreeMap<>(slots).entrySet()),
            node ->
                findings(node.getKey(), node.getValue(), pythons.get(node.getKey()), environment))
        .stream()
        .flatMap(List::stream)
        .toList();
  }

  private List<FabricFinding> findings(
      int node, int wanted, NodePython python, Map<String, String> environment)
      throws InterruptedException {
    return switch (python) {
      case NodePython.Missing(var why) -> List.of(untried(node, "no Python: " + why));
      case NodePython.Unknown(var why) -> List.of(untried(node, why));
      case NodePython.Known(var facts) -> {
        var words = List.of(facts.executable(), "-S", "-c", program);
        NodeCalls calls = site.nodes().get(node).calls();
        try {
          yield judged(node, wanted, calls.ask(words, environment, LIMIT).output());
        } catch (GpushException failed) {
          yield List.of(untried(node, NodeCalls.why(failed)));
        }
      }
    };
  }

  /** Of what the node printed. */
  static List<FabricFinding> judged(int node, int wanted, String output) {
    MarkedLine line = MarkedLine.of(output, "gpush-cuda");
    if (line.problem().isPresent()) {
      return List.of(untried(node, line.problem().get()));
    }
    Optional<String> error = line.json().text("error");
    if (error.isPresent()) {
      return List.of(failed(node, "", "CUDA does not start: " + error.get()));
    }
    var findings = new ArrayList<FabricFinding>();
    List<Json> gpus = line.json().items("gpus");
    for (int gpu = 0; gpu < gpus.size(); gpu++) {
      if (gpus.get(gpu) instanceof Json.Text(var why)) {
        findings.add(failed(node, ", GPU " + gpu, "CUDA does not start: " + why));
      }
    }
    if (gpus.size() < wanted) {
      findings.add(failed(node, "", "CUDA sees " + gpus.size() + " of " + wanted + " GPUs"));
    }
    return findings;
  }

  private static FabricFinding failed(int node, String gpu, String what) {
    return new FabricFinding(
        Severity.REFUSED,
        "no-cuda",
        NodeSet.of(node),
        "node " + node + gpu + ": " + what,
        "a rank on it fails as soon as it uses the GPU",
        "gpush exec --on " + node + " nvidia-smi -q shows the state of its GPUs");
  }

  private static FabricFinding untried(int node, String why) {
    return new FabricFinding(
        Severity.WARNING,
        "not-checked",
        NodeSet.of(node),
        "node " + node + ": CUDA was not started: " + why,
        "what is wrong there is not seen",
        "");
  }
}
