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
 * have them again, and those of a run that waits. A node that does not keep them says so then; the
 * present run does not need it.
 */
public final class KeptFiles {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** As if the node said that it has another generation. */
  private static final Json MISSING = Json.object("generation", 0);

  private final List<LaunchNode> nodes;
  private final List<Long> waiting;
  private final Tasks tasks;
  private final List<Task<Json, RuntimeException>> asked = new ArrayList<>();

  /**
   * @param waiting generations of runs that wait, which are not to go before others
   */
  public KeptFiles(List<LaunchNode> nodes, List<Long> waiting, Tasks tasks) {
    this.nodes = List.copyOf(nodes);
    this.waiting = List.copyOf(waiting);
    this.tasks = tasks;
  }

  /** Asks beside the start of a run. */
  public void begin(long generation) {
    Json.Obj params = Json.object("generation", generation, "also", waiting);
    for (LaunchNode node : nodes) {
      asked.add(tasks.fork("keep", () -> keep(node, params)));
    }
  }

  private static Json keep(LaunchNode node, Json.Obj params) throws InterruptedException {
    try {
      return node.calls().call("run.keep", params);
    } catch (GpushException _) {
      // It has other files by now, as those of a run of an earlier generation.
      return MISSING;
    }
  }

  /**
   * Before a run waits, and before it starts then.
   *
   * @return whether all nodes still have these files in their workspaces
   */
  public boolean keep(long generation) throws InterruptedException {
    begin(generation);
    boolean isThere = true;
    for (Task<Json, RuntimeException> node : asked) {
      isThere &= answer(node).get("generation").isEmpty();
    }
    return isThere;
  }

  /**
   * Until then no save may be sent. Waits for the nodes of the run, as others may be away, and not
   * for one whose link is cut.
   */
  public void await(RunRecord run) throws InterruptedException {
    for (RunRecord.Part part : run.parts()) {
      answer(asked.get(part.node()));
    }
  }

  private static Json answer(Task<Json, RuntimeException> node) throws InterruptedException {
    try {
      return node.get(PATIENCE);
    } catch (TimeoutException silent) {
      node.cancel();
      return MISSING;
    }
  }
}
