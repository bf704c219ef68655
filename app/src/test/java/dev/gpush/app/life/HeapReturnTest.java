package dev.gpush.app.life;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.MemoryPoolMXBean;
import java.lang.ref.Reference;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class HeapReturnTest {
  private long young;
  private long full;
  private final HeapReturn memory = new HeapReturn(() -> young + full, () -> full++);

  private void quiet(int ticks) {
    for (int i = 0; i < ticks; i++) {
      memory.tick();
    }
  }

  private void busy(int ticks) {
    for (int i = 0; i < ticks; i++) {
      young++;
      memory.tick();
    }
  }

  @Test
  void collectsOnceWhenATransferIsOver() {
    busy(3);
    quiet(HeapReturn.QUIET_TICKS - 1);
    assertEquals(0, full);

    quiet(1);
    assertEquals(1, full);

    quiet(100);
    assertEquals(1, full, "an idle gateway must not wake for collections");
  }

  @Test
  void leavesATransferAlone() {
    busy(100);

    assertEquals(0, full);
  }

  @Test
  void seesTheCollectionsOfThisProcess() {
    long before = HeapReturn.ownCollections();

    System.gc();

    assertTrue(HeapReturn.ownCollections() > before);
  }

  @Test
  void theBoundComesDownAgainWhenMuchNoLongerLives() {
    Optional<MemoryPoolMXBean> old = HeapReturn.old();
    var live = new byte[100][1 << 20];
    HeapReturn.collect(old);
    long high = old.orElseThrow().getUsageThreshold();
    assertTrue(high >= live.length << 20, () -> "it is " + high);

    live = new byte[0][0];
    HeapReturn.collect(old);

    long low = old.orElseThrow().getUsageThreshold();
    assertTrue(low < high, () -> low + " after " + high + " beside " + live(old));
    Reference.reachabilityFence(live);
  }

  private static long live(Optional<MemoryPoolMXBean> old) {
    return old.orElseThrow().getUsage().getUsed();
  }
}
