package dev.gpush.launch;

import dev.gpush.launch.run.QueueTurn;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/** Remembers what a launch does with the turn of its session. */
final class FakeTurn implements QueueTurn {
  private final List<String> calls = new CopyOnWriteArrayList<>();
  private final CountDownLatch left = new CountDownLatch(1);

  @Override
  public void leave() {
    calls.add("leave");
    left.countDown();
  }

  @Override
  public void enter() {
    calls.add("enter");
  }

  /** Waits until the run waits. */
  void awaitLeft() throws InterruptedException {
    left.await();
  }

  List<String> calls() {
    return List.copyOf(calls);
  }
}
