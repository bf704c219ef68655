package dev.gpush.backends.transport.builtin;

import dev.gpush.core.task.Tasks;

/** What nobody waits for; once the transport is closed, nothing. */
final class Errands {
  private final Tasks tasks;

  Errands(Tasks tasks) {
    this.tasks = tasks;
  }

  void start(String name, Runnable work) {
    try {
      tasks.start(name, work);
    } catch (IllegalStateException closed) {
      // All connections end then anyway.
    }
  }
}
