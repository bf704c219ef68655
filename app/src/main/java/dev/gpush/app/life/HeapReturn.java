package dev.gpush.app.life;

import java.util.concurrent.locks.ReentrantLock;

/**
 * Keeps the heap near what is in use. The serial collector has the smallest footprint, but it lets
 * the old generation grow to its limit before it collects it, and gives memory back only then: the
 * bytes of one large transfer stayed for as long as the gateway lived.
 *
 * <p>So the old generation is collected when it has doubled, and all of it once a transfer is over.
 * What lives is about 20 MiB, which takes tens of milliseconds.
 */
public final class HeapReturn {
  /** Below this a collection is not worth its time. */
  static final long SMALL_BYTES = 40 * Heap.MEBIBYTE;

  /** The old generation may hold this, and twice what lived at the last collection. */
  static final long OLD_BYTES = 64 * Heap.MEBIBYTE;

  /** This many ticks without a collection, five seconds each, are the end of a transfer. */
  static final int QUIET_TICKS = 4;

  private final Heap heap;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private long seen;
  private int quiet;
  private boolean isDone = true;
  private long oldLimit = OLD_BYTES;

  HeapReturn(Heap heap) {
    this.heap = heap;
    this.seen = heap.collections();
  }

  /** Of this process. */
  public static HeapReturn ofThisProcess() {
    var heap = new JvmHeap();
    var made = new HeapReturn(heap);
    heap.whenOldExceeds(OLD_BYTES, made::hasGrown);
    return made;
  }

  /** The old generation has exceeded its limit, and does again as long as a transfer lasts. */
  void hasGrown() {
    lock.lock();
    try {
      if (heap.oldBytes() >= oldLimit) {
        collect();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Called every few seconds. */
  public void tick() {
    lock.lock();
    try {
      long now = heap.collections();
      quiet = now == seen ? quiet + 1 : 0;
      isDone &= now == seen;
      seen = now;
      if (heap.oldBytes() >= oldLimit) {
        collect();
      } else if (!isDone && quiet >= QUIET_TICKS) {
        isDone = true;
        if (heap.committedBytes() > SMALL_BYTES) {
          collect();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void collect() {
    heap.collect();
    seen = heap.collections();
    oldLimit = Math.max(OLD_BYTES, 2 * heap.oldBytes());
  }
}
