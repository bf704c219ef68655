package dev.gpush.app.life;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.Optional;
import javax.management.NotificationEmitter;

/** This process's own. */
public final class JvmHeap implements Heap {
  private final Optional<MemoryPoolMXBean> old;

  public JvmHeap() {
    this.old =
        ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP)
            .filter(MemoryPoolMXBean::isUsageThresholdSupported)
            .findFirst();
  }

  /** Reports, on a thread of the JVM, when the old generation has grown beyond the limit. */
  void whenOldExceeds(long bytes, Runnable report) {
    old.ifPresent(pool -> pool.setUsageThreshold(Math.min(bytes, pool.getUsage().getMax())));
    if (ManagementFactory.getMemoryMXBean() instanceof NotificationEmitter emitter) {
      emitter.addNotificationListener((_, _) -> report.run(), null, null);
    }
  }

  @Override
  public long collections() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(GarbageCollectorMXBean::getCollectionCount)
        .sum();
  }

  @Override
  public long committedBytes() {
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getCommitted();
  }

  @Override
  public long oldBytes() {
    return old.map(pool -> pool.getUsage().getUsed()).orElse(0L);
  }

  @Override
  public void collect() {
    System.gc();
  }
}
