package dev.gpush.app.life;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
}
