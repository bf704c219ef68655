package dev.gpush.launch;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.plan.LaunchMaker;
import dev.gpush.launch.plan.LaunchMaker.ResolvedRun;
import dev.gpush.launch.plan.LaunchPlan;
import dev.gpush.launch.plan.SlotPlan;
import dev.gpush.launch.run.RunRecord;
import dev.gpush.launch.run.RunStart;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

/**
 * The files of the runs of a session: the nodes keep them when a run starts or begins to wait, and
 * one that has waited or failed gets them where the nodes have others by then. {@code run --at} can
 * have them again, too. A node that does not keep them says so then; the present run does not need
 * it. Thread-safe.
 */
final class RunFiles {
  /** For all nodes together: the session's turn is held meanwhile. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final LaunchSite site;
  private final LaunchMaker maker;
  private final Clock clock;
  private final Tasks tasks;

  /** The generations of runs that wait for slots. */
  private final Collection<Long> waiting = new ConcurrentLinkedQueue<>();

  RunFiles(LaunchSite site, LaunchMaker maker, Clock clock, Tasks tasks) {
    this.site = site;
    this.maker = maker;
    this.clock = clock;
    this.tasks = tasks;
  }

  /** Has all nodes keep those of a run that begins to wait, before anything else is sent. */
  void waits(long generation) throws InterruptedException {
    waiting.add(generation);
    await(begin(generation));
  }

  /** A run of this generation waits no more. */
  void waitsNoMore(long generation) {
    waiting.remove(generation);
  }

  /** What a node was asked to keep. */
  record Asked(int node, Task<Json, RuntimeException> task) {}

  /** Has all nodes keep those of a run, beside its start. */
  List<Asked> begin(long generation) {
    return ask(site.nodes(), generation, false);
  }

  private List<Asked> ask(List<LaunchNode> nodes, long generation, boolean verify) {
    Json.Obj params =
        Json.object("generation", generation, "also", List.copyOf(waiting), "verify", verify);
    var asked = new ArrayList<Asked>();
    for (LaunchNode node : nodes) {
      asked.add(
          new Asked(
              node.info().index(),
              tasks.fork("keep", () -> node.calls().call("run.keep", params))));
    }
    return asked;
  }

  /**
   * Until then no save may be sent. Waits for the nodes of the run, as others may be away, and not
   * for one whose link is cut.
   */
  void await(List<Asked> asked, RunRecord run) throws InterruptedException {
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

  /** Whether these nodes have the files of the run in their workspaces, as they were sent. */
  boolean areThere(ResolvedRun run, SlotPlan slots) throws InterruptedException, TimeoutException {
    return look(run, slots) == Present.ITS_OWN;
  }

  /** Starts all parts of a run, as the plan says. */
  interface Start {
    List<Long> with(LaunchPlan plan) throws InterruptedException;
  }

  /**
   * Starts a run again that has failed: as before, or with a snapshot where its nodes do not have
   * the same files, so that all ranks have. Where a file is no longer there as it was sent, it
   * starts as before: better than not at all.
   *
   * @param last the plan of the attempt before, and then of this one
   */
  List<Long> again(AtomicReference<LaunchPlan> last, ResolvedRun run, Start start)
      throws InterruptedException {
    LaunchPlan before = last.get();
    last.set(again(before, run));
    try {
      return start.with(last.get());
    } catch (GpushException refused) {
      boolean areGone =
          RunStart.isRefused(refused, "changed") || RunStart.isRefused(refused, "moved");
      if (!areGone || last.get().equals(before)) {
        throw refused;
      }
      last.set(before);
      return start.with(before);
    }
  }

  private LaunchPlan again(LaunchPlan plan, ResolvedRun run) throws InterruptedException {
    if (!run.usesWorkspace() || plan.nodes().size() == 1 || !areMixed(run, plan.slots())) {
      return plan;
    }
    ResolvedRun apart = run.fromSnapshot();
    Talk silent = Talk.silent();
    return maker.plan(apart, maker.decide(apart, silent), plan.slots(), silent);
  }

  private boolean areMixed(ResolvedRun run, SlotPlan slots) throws InterruptedException {
    try {
      return look(run, slots) == Present.MIXED;
    } catch (TimeoutException silent) {
      return false; // It looks for less long, so its link is down, and it cannot start the run.
    }
  }

  private Present look(ResolvedRun run, SlotPlan slots)
      throws InterruptedException, TimeoutException {
    try {
      return look(slots.nodes().stream().map(site.nodes()::get).toList(), run.input().generation());
    } catch (GpushException refused) {
      throw maker.explained(refused, run);
    }
  }

  /** What nodes have in their workspaces now, seen from a run that is to start. */
  enum Present {
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
  Present look(List<LaunchNode> nodes, long generation)
      throws InterruptedException, TimeoutException {
    List<Asked> asked = ask(nodes, generation, true);
    long end = end();
    try {
      var generations = new HashSet<Long>();
      boolean isEdited = false;
      for (Asked node : asked) {
        Json answer = told(node, end);
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

  private Json told(Asked node, long end) throws InterruptedException, TimeoutException {
    try {
      return answer(node, end);
    } catch (GpushException refused) {
      throw RunStart.at(node.node(), refused);
    }
  }
}
