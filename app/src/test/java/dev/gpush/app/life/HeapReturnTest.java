package dev.gpush.app.life;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class HeapReturnTest {
  private final GrowingHeap heap = new GrowingHeap();
  private final HeapReturn memory = new HeapReturn(heap);

  /** Garbage and what lives, as numbers. */
  private static final class GrowingHeap implements Heap {
    private long young;
    private long full;
    private long live = 20 * MEBIBYTE;
    private long garbage;

    void transfers(long bytes) {
      young++;
      garbage += bytes;
    }

    @Override
    public long collections() {
      return young + full;
    }

    @Override
    public long committedBytes() {
      return oldBytes() + 24 * MEBIBYTE;
    }

    @Override
    public long oldBytes() {
      return live + garbage;
    }

    @Override
    public void collect() {
      full++;
      garbage = 0;
    }
  }

  private void quiet(int ticks) {
    for (int i = 0; i < ticks; i++) {
      memory.tick();
    }
  }

  @Test
  void collectsOnceWhenATransferIsOver() {
    heap.transfers(30 * Heap.MEBIBYTE);
    memory.tick();
    assertEquals(0, heap.full);

    quiet(HeapReturn.QUIET_TICKS);
    assertEquals(1, heap.full);

    quiet(100);
    assertEquals(1, heap.full, "an idle gateway must not wake for collections");
  }

  @Test
  void leavesATransferAloneUntilItsGarbageIsLarge() {
    for (int i = 0; i < 40; i++) {
      heap.transfers(Heap.MEBIBYTE);
      memory.tick();
    }
    assertEquals(0, heap.full);

    heap.transfers(10 * Heap.MEBIBYTE);
    memory.hasGrown();

    assertEquals(1, heap.full);
  }

  @Test
  void doesNotCollectAgainAndAgainWhatLives() {
    heap.live = 100 * Heap.MEBIBYTE;
    memory.hasGrown();
    assertEquals(1, heap.full);

    for (int i = 0; i < 9; i++) {
      heap.transfers(10 * Heap.MEBIBYTE);
      memory.hasGrown();
      memory.tick();
    }
    assertEquals(1, heap.full);

    heap.transfers(10 * Heap.MEBIBYTE);
    memory.tick();
    assertEquals(2, heap.full);
  }

  @Test
  void readsTheHeapOfThisProcess() {
    var own = new JvmHeap();

    assertTrue(own.committedBytes() > Heap.MEBIBYTE);
    assertTrue(own.oldBytes() >= 0);
    long before = own.collections();
    own.collect();
    assertTrue(own.collections() > before);
  }
}
