package dev.gpush.launch.run;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.node.LaunchNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;

/**
 * Has all nodes of the session keep the files with which a run begins, so that {@code run --at} can
 * have them again. A node that does not keep them says so then; the present run does not need it.
 */
public final class KeptFiles {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final List<LaunchNode> nodes;
  private final Tasks tasks;
  private final List<Task<Json, RuntimeException>> asked = new ArrayList<>();

  public KeptFiles(List<LaunchNode> nodes, Tasks tasks) {
    this.nodes = List.copyOf(nodes);
    this.tasks = tasks;
  }

  /** Asks beside the start of the run. */
  public void begin(RunRecord run) {
    Json.Obj params = Json.object("generation", run.launched().generation());
    for (LaunchNode node : nodes) {
      asked.add(tasks.fork("keep", () -> keep(node, params)));
    }
  }

  private static Json keep(LaunchNode node, Json.Obj params) throws InterruptedException {
    try {
      return node.calls().call("run.keep", params);
    } catch (GpushException _) {
      // It has other files by now, as those of a run of an earlier generation.
      return Json.object();
    }
  }

  /**
   * Until then no save may be sent. Waits for the nodes of the run, as others may be away, and not
   * for one whose link is cut.
   */
  public void await(RunRecord run) throws InterruptedException {
    for (RunRecord.Part part : run.parts()) {
      Task<Json, RuntimeException> node = asked.get(part.node());
      try {
        node.get(PATIENCE);
      } catch (TimeoutException silent) {
        node.cancel();
      }
    }
  }
}
