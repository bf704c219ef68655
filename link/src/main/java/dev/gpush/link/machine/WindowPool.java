package dev.gpush.link.machine;

/**
 * All receive windows of one link together stay below the pool's size, apart from a small one that
 * every stream gets.
 */
final class WindowPool {
  private final long size;
  private long used;

  WindowPool(long size) {
    this.size = size;
  }

  /** The first window of a stream: what was asked if there is room, else a small one. */
  int first(int wanted) {
    int window = used + wanted <= size ? wanted : LinkLimits.SMALL_WINDOW;
    used += window;
    return window;
  }

  /**
   * By how much a window that slows its stream may grow: it doubles, up to the largest, while there
   * is room.
   */
  int more(int window) {
    int more = Math.min(window, LinkLimits.MAX_WINDOW - window);
    if (more <= 0 || used + more > size) {
      return 0;
    }
    used += more;
    return more;
  }

  void giveBack(int window) {
    used -= window;
  }

  long used() {
    return used;
  }
}
