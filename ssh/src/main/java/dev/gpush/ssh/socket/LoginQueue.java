package dev.gpush.ssh.socket;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Decides which connections that have not logged in are served, wait, or are closed. Those beyond
 * the limit wait for their turn, those that have sent something first. A connection that is served
 * and quiet does not block others: its place goes to one that has sent something. It is not closed,
 * because the client of a busy machine is as quiet as one that never logs in; it goes on when it
 * sends something. The number of such connections is limited; beyond it, the one that has been for
 * longest is closed. When the first in the queue have waited for long, most of them are not there
 * to log in, and the newest is served first. Connections of a penalized source come last, and one
 * at a time. Pure, and not thread-safe.
 *
 * @param <C> a connection
 */
final class LoginQueue<C> {
  private final LoginLimits limits;

  /** In the order in which they are served, with the time when that began. */
  private final Map<C, Long> silent = new LinkedHashMap<>();

  /** With the time when each sent something; the longest quiet one is the first. */
  private final Map<C, Long> talking = new LinkedHashMap<>();

  /** Served without a place, the longest quiet one first. */
  private final Set<C> stalled = new LinkedHashSet<>();

  private final Set<C> waitingSilent = new LinkedHashSet<>();

  /** With the time when each began to wait as such. */
  private final Map<C, Long> waitingTalking = new LinkedHashMap<>();

  private final Set<C> penalized = new HashSet<>();

  LoginQueue(LoginLimits limits) {
    this.limits = limits;
  }

  /** What is to be done next. */
  sealed interface Step<C> {
    /** Its turn has come. */
    record Serve<C>(C connection) implements Step<C> {}

    /** It sends nothing, and others need its place. */
    record Drop<C>(C connection) implements Step<C> {}

    /** Nothing, before something happens or this time has passed. */
    record Rest<C>(Optional<Long> nanos) implements Step<C> {}
  }

  /** A client has connected. */
  void arrives(C connection, boolean isPenalized) {
    waitingSilent.add(connection);
    if (isPenalized) {
      penalized.add(connection);
    }
  }

  /** It has sent something. */
  void talks(C connection, long now) {
    if (silent.remove(connection) != null
        || talking.remove(connection) != null
        || stalled.remove(connection)) {
      talking.put(connection, now);
    } else if (waitingSilent.remove(connection)) {
      waitingTalking.put(connection, now);
    }
  }

  /** It has logged in, or is gone. */
  void leaves(C connection) {
    silent.remove(connection);
    talking.remove(connection);
    stalled.remove(connection);
    waitingSilent.remove(connection);
    waitingTalking.remove(connection);
    penalized.remove(connection);
  }

  /** Whether no more connections may arrive. */
  boolean isFull() {
    return waitingTalking.size() >= limits.waiting();
  }

  /**
   * Called until it returns {@link Step.Rest}; each step that it returns counts as done.
   *
   * @param now monotonic nanoseconds
   */
  Step<C> next(long now) {
    if (silent.size() + talking.size() < limits.served()) {
      return serve(now);
    }
    if (waitingTalking.size() + waitingSilent.size() > limits.waiting()
        && !waitingSilent.isEmpty()) {
      C first = waitingSilent.iterator().next();
      leaves(first);
      return new Step.Drop<>(first);
    }
    return waitingTalking.isEmpty() ? new Step.Rest<>(Optional.empty()) : makeRoom(now);
  }

  private Step<C> serve(long now) {
    Optional<C> talker =
        isUnderAttack(now)
            ? last(waitingTalking.keySet().stream().filter(this::mayBeServed))
            : waitingTalking.keySet().stream().filter(this::mayBeServed).findFirst();
    if (talker.isPresent()) {
      C connection = talker.orElseThrow();
      waitingTalking.remove(connection);
      talking.put(connection, now);
      return new Step.Serve<>(connection);
    }
    Optional<C> quiet = waitingSilent.stream().filter(this::mayBeServed).findFirst();
    if (quiet.isPresent()) {
      C connection = quiet.orElseThrow();
      waitingSilent.remove(connection);
      silent.put(connection, now);
      return new Step.Serve<>(connection);
    }
    return waitingTalking.isEmpty() ? new Step.Rest<>(Optional.empty()) : makeRoom(now);
  }

  private static <C> Optional<C> last(Stream<C> all) {
    return all.reduce((_, next) -> next);
  }

  private boolean isUnderAttack(long now) {
    return waitingTalking.values().stream()
        .findFirst()
        .filter(since -> now - since > limits.stall().toNanos())
        .isPresent();
  }

  /** One penalized connection at a time, and only when no other waits. */
  private boolean mayBeServed(C connection) {
    return !penalized.contains(connection)
        || (penalized.stream().noneMatch(this::isServed)
            && Stream.concat(waitingTalking.keySet().stream(), waitingSilent.stream())
                .allMatch(penalized::contains));
  }

  private boolean isServed(C connection) {
    return silent.containsKey(connection) || talking.containsKey(connection);
  }

  /** Takes the place of the one that has been quiet for longest beyond its limit. */
  private Step<C> makeRoom(long now) {
    Optional<Quiet<C>> longest =
        Stream.of(quiet(silent, limits.silence(), now), quiet(talking, limits.stall(), now))
            .flatMap(Optional::stream)
            .min(Comparator.comparingLong(Quiet::left));
    if (longest.isEmpty()) {
      return new Step.Rest<>(Optional.empty());
    }
    Quiet<C> first = longest.orElseThrow();
    if (first.left() > 0) {
      return new Step.Rest<>(Optional.of(first.left()));
    }
    silent.remove(first.connection());
    talking.remove(first.connection());
    stalled.add(first.connection());
    if (stalled.size() <= limits.stalled()) {
      return next(now);
    }
    C dropped = stalled.iterator().next();
    leaves(dropped);
    return new Step.Drop<>(dropped);
  }

  private record Quiet<C>(C connection, long left) {}

  private static <C> Optional<Quiet<C>> quiet(Map<C, Long> all, Duration limit, long now) {
    return all.entrySet().stream()
        .findFirst()
        .map(each -> new Quiet<>(each.getKey(), limit.toNanos() - (now - each.getValue())));
  }
}
