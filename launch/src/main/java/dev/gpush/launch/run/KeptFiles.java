package dev.gpush.launch.run;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.node.LaunchNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/**
 * Has nodes keep the files with which a run begins, so that {@code run --at} can have them again,
 * and those of a run that waits. A node that does not keep them says so then; the present run does
 * not need it.
 */
public final class KeptFiles {
  /** For all nodes together: the session's turn is held meanwhile. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final List<LaunchNode> nodes;
  private final List<Long> waiting;
  private final Clock clock;
  private final Tasks tasks;
  private final List<Asked> asked = new ArrayList<>();

  private record Asked(int node, Task<Json, RuntimeException> task) {}

  /**
   * @param waiting generations of runs that wait, which are not to go before others
   */
  public KeptFiles(List<LaunchNode> nodes, List<Long> waiting, Clock clock, Tasks tasks) {
    this.nodes = List.copyOf(nodes);
    this.waiting = List.copyOf(waiting);
    this.clock = clock;
    this.tasks = tasks;
  }

  /** Asks beside the start of a run. */
  public void begin(long generation) {
    begin(Json.object("generation", generation, "also", waiting));
  }

  private void begin(Json.Obj params) {
    for (LaunchNode node : nodes) {
      asked.add(
          new Asked(
              node.info().index(),
              tasks.fork("keep", () -> node.calls().call("run.keep", params))));
    }
  }

  /** Before a run waits. */
  public void keep(long generation) throws InterruptedException {
    begin(generation);
    await(asked);
  }

  /** What nodes have in their workspaces now, seen from a run that is to start. */
  public enum Present {
    /** Its files, as they were sent. */
    ITS_OWN,
    /** Those of another generation, the same on all of them. */
    OTHERS,
    /** Not the same on all, or one was edited there. */
    MIXED
  }

  /**
   * Before a run starts that has waited, or failed.
   *
   * @throws GpushException when a node cannot tell
   * @throws TimeoutException when one does not answer
   */
  public Present look(long generation) throws InterruptedException, TimeoutException {
    begin(Json.object("generation", generation, "also", waiting, "verify", true));
    long end = end();
    try {
      var generations = new HashSet<Long>();
      boolean isEdited = false;
      for (Asked node : asked) {
        Json answer = look(node, end);
        generations.add(answer.number("generation").orElse(generation));
        isEdited |= answer.text("changed").isPresent();
      }
      if (isEdited || generations.size() > 1) {
        return Present.MIXED;
      }
      return generations.contains(generation) ? Present.ITS_OWN : Present.OTHERS;
    } finally {
      asked.forEach(node -> node.task().cancel());
    }
  }

  private Json look(Asked node, long end) throws InterruptedException, TimeoutException {
    try {
      return answer(node, end);
    } catch (GpushException refused) {
      if (RunStart.isRefused(refused, "moved")) {
        return Json.object("generation", -1L); // An agent of before does not look then.
      }
      throw RunStart.at(node.node(), refused);
    }
  }

  /**
   * Until then no save may be sent. Waits for the nodes of the run, as others may be away, and not
   * for one whose link is cut.
   */
  public void await(RunRecord run) throws InterruptedException {
    Set<Integer> its =
        run.parts().stream().map(RunRecord.Part::node).collect(Collectors.toUnmodifiableSet());
    await(asked.stream().filter(node -> its.contains(node.node())).toList());
  }

  private void await(List<Asked> these) throws InterruptedException {
    long end = end();
    for (Asked node : these) {
      try {
        answer(node, end);
      } catch (TimeoutException | GpushException _) {
        // It has other files by now, as those of a run of an earlier generation, or says nothing.
      }
    }
  }

  private long end() {
    return clock.nanos() + PATIENCE.toNanos();
  }

  private Json answer(Asked node, long end) throws InterruptedException, TimeoutException {
    try {
      return node.task().get(Duration.ofNanos(end - clock.nanos()));
    } catch (TimeoutException silent) {
      node.task().cancel();
      throw silent;
    }
  }
}
