package dev.gpush.sync.node;

import dev.gpush.core.talk.StepCount;
import dev.gpush.core.talk.Talk;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** Shows what was sent to the node that has the most left: all have that much. */
public final class SendCount {
  /** At n, how many nodes have more than n contents left. */
  private final AtomicIntegerArray behind;

  private final StepCount count;

  public SendCount(Talk.Step step, Collection<SyncPlan> plans) {
    int all = plans.stream().mapToInt(plan -> plan.blobs().size()).max().orElse(0);
    behind = new AtomicIntegerArray(all);
    for (SyncPlan plan : plans) {
      for (int left = 0; left < plan.blobs().size(); left++) {
        behind.incrementAndGet(left);
      }
    }
    count = new StepCount(step, all, "sent");
  }

  /** One node's part, to be run after each content. What it asks for again is not counted. */
  public Runnable sent(SyncPlan plan) {
    var left = new AtomicInteger(plan.blobs().size());
    return () -> {
      int now = left.decrementAndGet();
      if (now >= 0 && behind.decrementAndGet(now) == 0) {
        count.add();
      }
    };
  }
}
