package dev.gpush.gateway.ssh.socket;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Decides which connections that have not logged in are served, wait, or are closed. A login in
 * progress is never ended for another one: those beyond the limit wait for their turn, those that
 * have sent something first. A connection that has sent nothing does not block others: it is closed
 * for one that has, once it was served long enough to have sent something even on a busy machine.
 * Pure, and not thread-safe.
 *
 * @param <C> a connection
 */
final class LoginQueue<C> {
  private final LoginLimits limits;

  /** In the order in which they are served, with the time when that began. */
  private final Map<C, Long> silent = new LinkedHashMap<>();

  private final Set<C> talking = new LinkedHashSet<>();
  private final Set<C> waitingSilent = new LinkedHashSet<>();
  private final Set<C> waitingTalking = new LinkedHashSet<>();

  LoginQueue(LoginLimits limits) {
    this.limits = limits;
  }

  /** What is to be done next. */
  sealed interface Step<C> {
    /** Its turn has come. */
    record Serve<C>(C connection) implements Step<C> {}

    /** It has sent nothing, and others need its place. */
    record Drop<C>(C connection) implements Step<C> {}

    /** Nothing, before something happens or this time has passed. */
    record Rest<C>(Optional<Long> nanos) implements Step<C> {}
  }

  /** A client has connected. */
  void arrives(C connection) {
    waitingSilent.add(connection);
  }

  /** It has sent something for the first time. */
  void talks(C connection) {
    if (silent.remove(connection) != null) {
      talking.add(connection);
    } else if (waitingSilent.remove(connection)) {
      waitingTalking.add(connection);
    }
  }

  /** It has logged in, or is gone. */
  void leaves(C connection) {
    silent.remove(connection);
    talking.remove(connection);
    waitingSilent.remove(connection);
    waitingTalking.remove(connection);
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
      return takeFirst(waitingTalking)
          .<Step<C>>map(
              connection -> {
                talking.add(connection);
                return new Step.Serve<>(connection);
              })
          .or(
              () ->
                  takeFirst(waitingSilent)
                      .map(
                          connection -> {
                            silent.put(connection, now);
                            return new Step.Serve<>(connection);
                          }))
          .orElseGet(() -> new Step.Rest<>(Optional.empty()));
    }
    if (waitingTalking.size() + waitingSilent.size() > limits.waiting()
        && !waitingSilent.isEmpty()) {
      return new Step.Drop<>(takeFirst(waitingSilent).orElseThrow());
    }
    return waitingTalking.isEmpty() || silent.isEmpty()
        ? new Step.Rest<>(Optional.empty())
        : oldestSilent(now);
  }

  private Step<C> oldestSilent(long now) {
    Iterator<Map.Entry<C, Long>> all = silent.entrySet().iterator();
    Map.Entry<C, Long> oldest = all.next();
    long left = limits.silence().toNanos() - (now - oldest.getValue());
    if (left > 0) {
      return new Step.Rest<>(Optional.of(left));
    }
    C connection = oldest.getKey();
    all.remove();
    return new Step.Drop<>(connection);
  }

  private static <C> Optional<C> takeFirst(Set<C> from) {
    Iterator<C> all = from.iterator();
    if (!all.hasNext()) {
      return Optional.empty();
    }
    C first = all.next();
    all.remove();
    return Optional.of(first);
  }
}
