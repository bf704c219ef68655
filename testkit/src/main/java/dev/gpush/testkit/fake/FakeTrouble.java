package dev.gpush.testkit.fake;

import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Faults of a {@link FakeSite}: jitter and failures from a seed, failures that a test requests, and
 * gates at which an operation waits. Thread-safe.
 */
public final class FakeTrouble {
  /** Enough to shuffle concurrent operations. */
  private static final long MOST_JITTER_NANOS = 2_000_000;

  /** The operations of a backend that may fail. */
  public enum Operation {
    RESERVE,
    OBSERVE,
    RENEW,
    RELEASE,
    DISCOVER,
    SPAWN,
    /** Only at a gate, or when a test requests it, because a plan has no effect. */
    PLAN,
    /** Likewise. */
    RESUME
  }

  /**
   * Before: nothing was done. After: it was done, and the reply is lost. Bug: the backend does not
   * keep its contract; only when a test requests it.
   */
  public enum Moment {
    BEFORE,
    AFTER,
    BUG
  }

  private record Order(Operation operation, Moment moment) {}

  private final Object lock = new Object();
  // guarded by lock: random, orders, gates, away
  private final Random random;
  private final Deque<Order> orders = new ArrayDeque<>();
  private final Deque<Gate> gates = new ArrayDeque<>();
  private final Set<Integer> away = new HashSet<>();
  private final int oneIn;

  private FakeTrouble(Random random, int oneIn) {
    this.random = random;
    this.oneIn = oneIn;
  }

  /** Only requested failures, and jitter. */
  public static FakeTrouble none(long seed) {
    return new FakeTrouble(new Random(seed), 0);
  }

  /** One of this many moments fails. */
  public static FakeTrouble often(long seed, int oneIn) {
    if (oneIn < 2) {
      throw new IllegalArgumentException("one in 2 or more, not " + oneIn);
    }
    return new FakeTrouble(new Random(seed), oneIn);
  }

  /** The next such operation fails, once. */
  public void fail(Operation operation, Moment moment) {
    synchronized (lock) {
      orders.add(new Order(operation, moment));
    }
  }

  /** The next such operation waits here until the gate is opened; it can be interrupted there. */
  public Gate hold(Operation operation, Moment moment) {
    var gate = new Gate(new Order(operation, moment));
    synchronized (lock) {
      gates.add(gate);
    }
    return gate;
  }

  /** From now on nothing reaches this node of any gang, and the site cannot tell why. */
  public void away(int node) {
    synchronized (lock) {
      away.add(node);
    }
  }

  /** It is there again. */
  public void back(int node) {
    synchronized (lock) {
      away.remove(node);
    }
  }

  boolean isAway(int node) {
    synchronized (lock) {
      return away.contains(node);
    }
  }

  /** Where one operation waits. */
  public static final class Gate {
    private final Order at;
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch opened = new CountDownLatch(1);

    private Gate(Order at) {
      this.at = at;
    }

    /** Waits until the operation has reached the gate. */
    public void awaitReached() throws InterruptedException {
      reached.await();
    }

    public void open() {
      opened.countDown();
    }
  }

  void at(Operation operation, Moment moment) throws InterruptedException {
    var here = new Order(operation, moment);
    long jitter;
    boolean fails;
    Gate waiting;
    synchronized (lock) {
      jitter = random.nextLong(MOST_JITTER_NANOS);
      boolean ordered = orders.remove(here);
      boolean isByChance =
          operation != Operation.PLAN && operation != Operation.RESUME && moment != Moment.BUG;
      fails = ordered || (oneIn > 0 && isByChance && random.nextInt(oneIn) == 0);
      waiting = gates.stream().filter(gate -> gate.at.equals(here)).findFirst().orElse(OPEN);
      gates.remove(waiting);
    }
    LockSupport.parkNanos(jitter);
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    waiting.reached.countDown();
    waiting.opened.await();
    if (fails && moment == Moment.BUG) {
      throw new IllegalStateException("pretended bug in " + operation);
    }
    if (fails) {
      String reason = "pretended failure " + moment + " " + operation;
      throw new GpushException(new BackendFailure.Unavailable("fake", reason, "try again"));
    }
  }

  private static final Gate OPEN = openGate();

  private static Gate openGate() {
    var gate = new Gate(new Order(Operation.RESERVE, Moment.BEFORE));
    gate.open();
    return gate;
  }
}
