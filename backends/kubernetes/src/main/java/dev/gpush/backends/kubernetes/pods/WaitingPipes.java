package dev.gpush.backends.kubernetes.pods;

import dev.gpush.core.gang.GangId;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Clock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * Pipes on which an agent has answered, kept for its link, so that one command in each pod serves
 * both. Thread-safe.
 */
public final class WaitingPipes {
  /** The agent waits for HELLO a little longer. */
  private static final Duration LONGEST = Duration.ofMinutes(9);

  private static final Duration FRESH = Duration.ofSeconds(5);

  private final Clock clock;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private final Map<Node, Kept> kept = new HashMap<>();

  public WaitingPipes(Clock clock) {
    this.clock = clock;
  }

  private record Node(GangId gang, int number) {}

  private record Kept(Pipe pipe, long nanos) {}

  /**
   * One that was kept.
   *
   * @param isFresh kept so recently that it need not be checked
   */
  record Waiting(Pipe pipe, boolean isFresh) {}

  void put(GangId gang, int node, Pipe pipe) {
    Optional<Kept> older;
    lock.lock();
    try {
      older = Optional.ofNullable(kept.put(new Node(gang, node), new Kept(pipe, clock.nanos())));
    } finally {
      lock.unlock();
    }
    older.ifPresent(each -> close(each.pipe()));
    closeOld();
  }

  /** The caller owns it from then on. */
  Optional<Waiting> take(GangId gang, int node) {
    closeOld();
    long now = clock.nanos();
    lock.lock();
    try {
      return Optional.ofNullable(kept.remove(new Node(gang, node)))
          .map(each -> new Waiting(each.pipe(), now - each.nanos() < FRESH.toNanos()));
    } finally {
      lock.unlock();
    }
  }

  /** Closes the pipes of a gang that will not be linked. */
  public void close(GangId gang) {
    closeAll(each -> each.getKey().gang().equals(gang));
  }

  private void closeOld() {
    long now = clock.nanos();
    closeAll(each -> now - each.getValue().nanos() > LONGEST.toNanos());
  }

  private void closeAll(Predicate<Map.Entry<Node, Kept>> unwanted) {
    List<Pipe> closed = new ArrayList<>();
    lock.lock();
    try {
      kept.entrySet()
          .removeIf(
              each -> {
                boolean isUnwanted = unwanted.test(each);
                if (isUnwanted) {
                  closed.add(each.getValue().pipe());
                }
                return isUnwanted;
              });
    } finally {
      lock.unlock();
    }
    closed.forEach(WaitingPipes::close);
  }

  private static void close(Pipe pipe) {
    try {
      pipe.close();
    } catch (IOException alreadyGone) {
      // The command in the pod ends in any case.
    }
  }
}
