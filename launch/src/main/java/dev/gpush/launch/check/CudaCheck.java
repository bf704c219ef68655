package dev.gpush.launch.check;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.NodeCalls;
import dev.gpush.launch.node.Resources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Starts CUDA on the GPUs of some nodes, in the user's interpreter. */
final class CudaCheck {
  /** Above what cuda.py allows itself: 30 s to count the GPUs and 30 s to start them. */
  private static final Duration LIMIT = Duration.ofSeconds(70);

  private final LaunchSite site;
  private final Tasks tasks;
  private final String program = Resources.text(CudaCheck.class, "cuda.py");

  CudaCheck(LaunchSite site, Tasks tasks) {
    this.site = site;
    this.tasks = tasks;
  }

  /** By node. */
  Map<Integer, CudaReply> replies(
      List<Integer> nodes, List<NodePython> pythons, Map<String, String> environment)
      throws InterruptedException {
    var asking = new ArrayList<Work<CudaReply, RuntimeException>>();
    for (int node : nodes) {
      asking.add(() -> reply(site.nodes().get(node), pythons.get(node), environment));
    }
    List<CudaReply> replies = tasks.all("check-cuda", asking);
    var byNode = new TreeMap<Integer, CudaReply>();
    for (int i = 0; i < replies.size(); i++) {
      byNode.put(nodes.get(i), replies.get(i));
    }
    return byNode;
  }

  private CudaReply reply(LaunchNode node, NodePython python, Map<String, String> environment)
      throws InterruptedException {
    return switch (python) {
      case NodePython.Missing(var why) -> new CudaReply.Untried("no Python: " + why);
      case NodePython.Unknown(var why) -> new CudaReply.Untried(why);
      case NodePython.Known(var facts) -> {
        try {
          var words = List.of(facts.executable(), "-S", "-c", program);
          yield CudaReply.read(node.calls().ask(words, environment, LIMIT).output());
        } catch (GpushException failed) {
          yield new CudaReply.Untried(NodeCalls.why(failed));
        }
      }
    };
  }
}
