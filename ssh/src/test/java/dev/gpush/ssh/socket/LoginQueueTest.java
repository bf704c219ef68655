package dev.gpush.ssh.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LoginQueueTest {
  private static final Duration SILENCE = Duration.ofSeconds(5);
  private static final Duration STALL = Duration.ofSeconds(20);
  private static final long LATER = SILENCE.toNanos();

  private final LoginQueue<Integer> queue =
      new LoginQueue<>(new LoginLimits(2, 1, 3, SILENCE, STALL));
  private final List<String> done = new ArrayList<>();
  private long now = Long.MAX_VALUE - 10;
  private Optional<Long> rest = Optional.empty();

  /** All that can be done now, as {@code serve 1}, {@code drop 2}. */
  private List<String> steps() {
    done.clear();
    while (true) {
      switch (queue.next(now)) {
        case LoginQueue.Step.Serve<Integer>(var connection) -> done.add("serve " + connection);
        case LoginQueue.Step.Drop<Integer>(var connection) -> done.add("drop " + connection);
        case LoginQueue.Step.Rest<Integer>(var nanos) -> {
          rest = nanos;
          return List.copyOf(done);
        }
      }
    }
  }

  private void arrive(int... connections) {
    for (int connection : connections) {
      queue.arrives(connection, false);
    }
  }

  @Test
  void servesAtOnceWhileThereIsRoom() {
    arrive(1, 2);

    assertEquals(List.of("serve 1", "serve 2"), steps());
    assertEquals(Optional.empty(), rest);
  }

  @Test
  void neverEndsALoginInProgressForAnotherOne() {
    arrive(1, 2);
    steps();
    queue.talks(1, now);
    queue.talks(2, now);
    arrive(3, 4);
    queue.talks(3, now);
    queue.talks(4, now);
    now += 3 * LATER;

    assertEquals(List.of(), steps());

    queue.leaves(1);
    assertEquals(List.of("serve 3"), steps());
    queue.leaves(3);
    queue.leaves(2);
    assertEquals(List.of("serve 4"), steps());
  }

  @Test
  void thoseThatHaveSentSomethingComeFirst() {
    arrive(1, 2, 3, 4);
    steps();
    queue.talks(1, now);
    queue.talks(4, now);
    queue.leaves(1);

    assertEquals(List.of("serve 4"), steps());
    queue.leaves(4);
    assertEquals(List.of("serve 3"), steps());
  }

  @Test
  void whatSendsNothingGivesItsPlaceToOneThatDoes() {
    arrive(1, 2);
    steps();
    now += 1;
    arrive(3);
    steps();
    queue.talks(3, now);

    assertEquals(List.of(), steps());
    assertEquals(Optional.of(LATER - 1), rest);
    now += LATER - 2;
    assertEquals(List.of(), steps());
    now += 1;
    assertEquals(List.of("serve 3"), steps());
    assertEquals(Optional.empty(), rest);
  }

  @Test
  void oneThatIsSlowGoesOnWhenItSendsSomething() {
    arrive(1, 2);
    steps();
    queue.talks(1, now);
    queue.talks(2, now);
    arrive(3);
    queue.talks(3, now);
    now += STALL.toNanos();
    assertEquals(List.of("serve 3"), steps());

    queue.talks(1, now);
    arrive(4);
    queue.talks(4, now);

    assertEquals(List.of(), steps(), "1 and 3 are served");
    queue.leaves(3);
    assertEquals(List.of("serve 4"), steps(), "2 has no place");
  }

  @Test
  void ofTooManyThatStallTheOldestIsClosed() {
    arrive(1, 2);
    steps();
    queue.talks(1, now);
    now += 1;
    queue.talks(2, now);
    arrive(3, 4);
    queue.talks(3, now);
    queue.talks(4, now);
    now += STALL.toNanos();

    assertEquals(List.of("serve 3", "drop 1", "serve 4"), steps());
  }

  @Test
  void silenceKeepsItsPlaceWhileNobodyNeedsIt() {
    arrive(1, 2, 3);
    steps();
    now += 100 * LATER;

    assertEquals(List.of(), steps());
    assertEquals(Optional.empty(), rest);
  }

  @Test
  void tooManyThatSendNothingAreDroppedTheOldestFirst() {
    arrive(1, 2, 3, 4, 5);
    assertEquals(List.of("serve 1", "serve 2"), steps());
    queue.talks(3, now);
    arrive(6);

    assertEquals(List.of("drop 4"), steps());
    assertFalse(queue.isFull());
  }

  @Test
  void isFullOfThoseThatHaveSentSomething() {
    arrive(1, 2, 3, 4, 5);
    steps();
    for (int connection = 1; connection <= 5; connection++) {
      queue.talks(connection, now);
    }

    assertTrue(queue.isFull());
    assertEquals(List.of(), steps());
    queue.leaves(4);
    assertFalse(queue.isFull());
  }

  @Test
  void forgetsWhoIsGone() {
    arrive(1, 2, 3);
    steps();
    queue.leaves(3);
    queue.talks(3, now);
    queue.leaves(1);

    assertEquals(List.of(), steps());
    arrive(4);
    assertEquals(List.of("serve 4"), steps());
  }

  @Test
  void everybodyWhoSendsSomethingIsServedInAnyOrderOfEvents() {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.err.println("LoginQueueTest seed " + seed + " (-Dgpush.seed)");
    var random = new Random(seed);
    var many = new LoginQueue<Integer>(new LoginLimits(4, 0, 1_000, SILENCE, Duration.ofDays(1)));
    Set<Integer> talkers = new HashSet<>();
    Set<Integer> served = new HashSet<>();
    List<Integer> inProgress = new ArrayList<>();
    long time = 0;
    for (int connection = 0; connection < 500; connection++) {
      many.arrives(connection, false);
      if (random.nextBoolean()) {
        talkers.add(connection);
        many.talks(connection, 0);
      }
    }
    for (int round = 0; round < 5_000; round++) {
      switch (many.next(time)) {
        case LoginQueue.Step.Serve<Integer>(var connection) -> {
          served.add(connection);
          inProgress.add(connection);
          assertTrue(inProgress.size() <= 4, "seed " + seed);
        }
        case LoginQueue.Step.Drop<Integer>(var connection) -> {
          assertFalse(talkers.contains(connection), "seed " + seed);
          inProgress.remove(connection);
        }
        case LoginQueue.Step.Rest<Integer> _ -> {
          time += LATER;
          if (!inProgress.isEmpty()) {
            Integer one = inProgress.get(random.nextInt(inProgress.size()));
            if (talkers.contains(one)) {
              inProgress.remove(one);
              many.leaves(one);
            }
          }
        }
      }
    }
    assertTrue(served.containsAll(talkers), "seed " + seed);
  }

  @Test
  void oneThatStallsGivesItsPlaceToTheNewest() {
    arrive(1, 2);
    steps();
    queue.talks(1, now);
    queue.talks(2, now);
    arrive(3, 4);
    queue.talks(3, now);
    queue.talks(4, now);
    now += STALL.toNanos() - 1;
    queue.talks(2, now);
    arrive(5);
    queue.talks(5, now);
    assertEquals(List.of(), steps());
    assertEquals(Optional.of(1L), rest);

    now += 2;

    assertEquals(List.of("serve 5"), steps());
  }

  @Test
  void penalizedOnesComeLastAndOneAtATime() {
    for (int connection : List.of(1, 2, 3)) {
      queue.arrives(connection, true);
    }
    assertEquals(List.of("serve 1"), steps());
    queue.talks(1, now);
    queue.talks(2, now);
    queue.arrives(4, false);

    assertEquals(List.of("serve 4"), steps());

    queue.leaves(1);
    assertEquals(List.of("serve 2"), steps());
  }
}
