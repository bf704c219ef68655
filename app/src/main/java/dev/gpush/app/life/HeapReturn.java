package dev.gpush.app.life;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.Optional;
import java.util.function.LongSupplier;
import javax.management.NotificationEmitter;

/**
 * Has the JVM collect all of the heap when a transfer is over, and while its garbage is large. The
 * serial collector has the smallest footprint, but it returns memory only when it collects the old
 * generation, for which it waits until that is full.
 */
public final class HeapReturn {
  /** This many ticks without a collection, five seconds each, are the end of a transfer. */
  static final int QUIET_TICKS = 4;

  /** The old generation may hold this, and twice what lived at the last collection. */
  private static final long OLD_BYTES = 56L << 20;

  private final LongSupplier collections;
  private final Runnable collect;
  private long seen;
  private int quiet = QUIET_TICKS;

  HeapReturn(LongSupplier collections, Runnable collect) {
    this.collections = collections;
    this.collect = collect;
    this.seen = collections.getAsLong();
  }

  /** Of this process. */
  public static HeapReturn ofThisProcess() {
    Optional<MemoryPoolMXBean> old = old();
    old.ifPresent(HeapReturn::bound);
    return new HeapReturn(HeapReturn::ownCollections, () -> collect(old));
  }

  static Optional<MemoryPoolMXBean> old() {
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getType() == MemoryType.HEAP && pool.isUsageThresholdSupported())
        .findFirst();
  }

  static long ownCollections() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(GarbageCollectorMXBean::getCollectionCount)
        .sum();
  }

  private static void bound(MemoryPoolMXBean old) {
    limit(old, OLD_BYTES);
    if (ManagementFactory.getMemoryMXBean() instanceof NotificationEmitter emitter) {
      emitter.addNotificationListener((_, _) -> collect(Optional.of(old)), null, null);
    }
  }

  /** The bound follows what lives each time: one at the maximum is never reached. */
  static void collect(Optional<MemoryPoolMXBean> old) {
    System.gc();
    old.ifPresent(pool -> limit(pool, Math.max(OLD_BYTES, 2 * pool.getUsage().getUsed())));
  }

  private static void limit(MemoryPoolMXBean old, long bytes) {
    old.setUsageThreshold(Math.min(bytes, old.getUsage().getMax()));
  }

  /**
   * Called every few seconds, by one thread. The JVM collects only where something is allocated.
   */
  public void tick() {
    long now = collections.getAsLong();
    quiet = now == seen ? quiet + 1 : 0;
    if (quiet == QUIET_TICKS) {
      collect.run();
    }
    seen = collections.getAsLong();
  }
}
