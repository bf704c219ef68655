package dev.gpush.launch;

import dev.gpush.core.task.Tasks;
import dev.gpush.launch.run.SessionTurn;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;

/** Remembers what a launch does with the turn of its session. */
final class FakeTurn implements SessionTurn {
  private final List<String> calls = new CopyOnWriteArrayList<>();
  private final Semaphore released = new Semaphore(0);
  private final ConcurrentLinkedQueue<Tasks.Action> before = new ConcurrentLinkedQueue<>();

  @Override
  public void release() {
    calls.add("release");
    released.release();
  }

  @Override
  public void acquire() throws InterruptedException {
    Optional<Tasks.Action> other = Optional.ofNullable(before.poll());
    if (other.isPresent()) {
      other.get().run();
    }
    calls.add("acquire");
  }

  /** What another command does before the turn comes for the first time. */
  void before(Tasks.Action other) {
    before.add(other);
  }

  /** Waits until it was released once more. */
  void awaitReleased() throws InterruptedException {
    released.acquire();
  }

  List<String> calls() {
    return List.copyOf(calls);
  }
}
