package dev.gpush.launch;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.plan.LaunchMaker;
import dev.gpush.launch.plan.LaunchMaker.ResolvedRun;
import dev.gpush.launch.plan.LaunchPlan;
import dev.gpush.launch.plan.SlotPlan;
import dev.gpush.launch.run.KeptFiles;
import dev.gpush.launch.run.RunStart;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The files of the runs of a session: the nodes keep them when a run starts or begins to wait, and
 * one that has waited or failed gets them where the nodes have others by then. Thread-safe.
 */
final class RunFiles {
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
    of(site.nodes()).keep(generation);
  }

  /** A run of this generation waits no more. */
  void waitsNoMore(long generation) {
    waiting.remove(generation);
  }

  /** Has all nodes keep those of a run, beside its start. */
  KeptFiles begin(long generation) {
    KeptFiles keeping = of(site.nodes());
    keeping.begin(generation);
    return keeping;
  }

  /** Whether these nodes have the files of the run in their workspaces, as they were sent. */
  boolean areThere(ResolvedRun run, SlotPlan slots) throws InterruptedException, TimeoutException {
    return look(run, slots) == KeptFiles.Present.ITS_OWN;
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
      return look(run, slots) == KeptFiles.Present.MIXED;
    } catch (TimeoutException silent) {
      return false; // It looks for less long, so its link is down, and it cannot start the run.
    }
  }

  private KeptFiles.Present look(ResolvedRun run, SlotPlan slots)
      throws InterruptedException, TimeoutException {
    try {
      return of(slots.nodes().stream().map(site.nodes()::get).toList())
          .look(run.input().generation());
    } catch (GpushException refused) {
      throw maker.explained(refused, run);
    }
  }

  private KeptFiles of(List<LaunchNode> nodes) {
    return new KeptFiles(nodes, List.copyOf(waiting), clock, tasks);
  }
}
