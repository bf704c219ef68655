package dev.gpush.gateway.session.live;

import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.FakeTalk;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class TurnQueueTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);

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
    var waiting = new CopyOnWriteArrayList<Task<Boolean, RuntimeException>>();
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

    for (Task<Boolean, RuntimeException> each : waiting) {
      each.get(LIMIT);
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
    Task<Optional<TurnQueue.Turn>, RuntimeException> joins =
        tasks.fork("joins", () -> turns.takeOrJoin("up", "devbox", Talk.silent()));
    Task<TurnQueue.Turn, RuntimeException> waits =
        tasks.fork("waits", () -> turns.take("sync", "devbox", Talk.silent()));
    awaitWaiters(2);

    turns.joinable("up");

    assertEquals(Optional.empty(), joins.get(LIMIT));
    assertEquals(Optional.empty(), turns.takeOrJoin("down", "devbox", Talk.silent()));
    assertFalse(waits.isDone());
    recovery.close();
    waits.get(LIMIT).close();
    assertTrue(turns.takeOrJoin("up", "devbox", Talk.silent()).isPresent());
  }

  @Test
  void whoIsInterruptedIsOutOfTheLine() throws Exception {
    TurnQueue.Turn first = turns.takeFirst("up");
    Task<TurnQueue.Turn, RuntimeException> gone =
        tasks.fork("gone", () -> turns.take("sync", "devbox", Talk.silent()));
    awaitWaiters(1);

    gone.cancel();
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
