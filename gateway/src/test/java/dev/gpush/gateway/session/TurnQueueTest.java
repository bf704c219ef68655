package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Tasks;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class TurnQueueTest {
  private final Tasks tasks = Tasks.named("turns", (_, bug) -> bug.printStackTrace());
  private final TurnQueue turns = new TurnQueue();

  @AfterEach
  void end() {
    tasks.close();
  }

  @Test
  void whoWaitsLongestIsNext() throws Exception {
    TurnQueue.Turn first = turns.takeFirst("up");
    List<String> order = new CopyOnWriteArrayList<>();
    var waiting = new CopyOnWriteArrayList<Future<Boolean>>();
    for (String name : List.of("a", "b", "c")) {
      var talk = FakeTalk.answering(true);
      waiting.add(
          tasks.fork(
              name,
              () -> {
                try (TurnQueue.Turn _ = turns.take(name, "devbox", talk)) {
                  return order.add(name);
                }
              }));
      until(name + " waits", () -> talk.lines().equals(List.of("waiting for up of devbox")));
      awaitWaiters(waiting.size());
    }

    first.close();

    for (Future<Boolean> each : waiting) {
      each.get(20, TimeUnit.SECONDS);
    }
    assertEquals(List.of("a", "b", "c"), order);
  }

  /** So many are in line: each says that it waits a moment before it is. */
  private void awaitWaiters(int count) {
    until(count + " are in line", () -> turns.waiters() == count);
  }

  @Test
  void whoWaitsToJoinStopsWaitingWhenItCan() throws Exception {
    TurnQueue.Turn recovery = turns.takeFirst("recovery");
    Future<Optional<TurnQueue.Turn>> joins =
        tasks.fork("joins", () -> turns.takeOrJoin("up", "devbox", Talk.silent()));
    Future<TurnQueue.Turn> waits =
        tasks.fork("waits", () -> turns.take("sync", "devbox", Talk.silent()));
    awaitWaiters(2);

    turns.joinable("up");

    assertEquals(Optional.empty(), joins.get(20, TimeUnit.SECONDS));
    assertEquals(Optional.empty(), turns.takeOrJoin("down", "devbox", Talk.silent()));
    assertFalse(waits.isDone());
    recovery.close();
    waits.get(20, TimeUnit.SECONDS).close();
    assertTrue(turns.takeOrJoin("up", "devbox", Talk.silent()).isPresent());
  }

  @Test
  void whoIsInterruptedIsOutOfTheLine() throws Exception {
    TurnQueue.Turn first = turns.takeFirst("up");
    Future<TurnQueue.Turn> gone =
        tasks.fork("gone", () -> turns.take("sync", "devbox", Talk.silent()));
    awaitWaiters(1);

    gone.cancel(true);
    awaitWaiters(0);
    first.close();

    turns.take("down", "devbox", Talk.silent()).close();
    assertFalse(turns.isTaken());
  }

  @Test
  void aTurnThatNobodyHasCannotBeJoined() {
    assertThrows(IllegalStateException.class, () -> turns.joinable("up"));
  }
}
