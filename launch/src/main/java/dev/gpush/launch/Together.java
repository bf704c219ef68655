package dev.gpush.launch;

import dev.gpush.core.task.Tasks;
import java.util.List;
import java.util.concurrent.Callable;

/** The same asked of all nodes at once. */
final class Together {
  private Together() {}

  /** As {@link Tasks#all}; a part that is interrupted interrupts the whole, it is no bug. */
  static <T> List<T> all(Tasks tasks, String name, List<? extends Callable<T>> works)
      throws InterruptedException {
    try {
      return tasks.all(name, works);
    } catch (IllegalStateException wrapped) {
      if (wrapped.getCause() instanceof InterruptedException stop) {
        throw stop;
      }
      throw wrapped;
    }
  }
}
