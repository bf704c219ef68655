package dev.gpush.launch.run;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.node.LaunchSite;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Kills what failed starts have left with numbers that other runs have by now. Thread-safe. */
public final class ReplacedRuns {
  private final LaunchSite site;
  private final RunHistory history;
  private final Tasks tasks;

  /** Each once: a launcher has the same links as long as it lives. */
  private final Set<Integer> begun = ConcurrentHashMap.newKeySet();

  public ReplacedRuns(LaunchSite site, RunHistory history, Tasks tasks) {
    this.site = site;
    this.history = history;
    this.tasks = tasks;
  }

  /** Returns at once. */
  public void kill() {
    for (RunRecord old : history.replaced()) {
      if (old.fits(site.nodes().size()) && begun.add(old.number())) {
        tasks.start("kill-" + old.number(), () -> kill(old));
      }
    }
  }

  private void kill(RunRecord old) throws InterruptedException {
    try {
      RunStart.killLater(site, old, tasks);
      history.killed(old);
    } catch (GpushException over) {
      // A launcher with other links asks again.
    }
  }
}
