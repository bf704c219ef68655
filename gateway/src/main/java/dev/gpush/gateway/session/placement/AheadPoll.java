package dev.gpush.gateway.session.placement;

import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.ledger.Bid;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * Asks the queues what is ahead of requests. A list of all jobs is work for a cluster's controller,
 * so each request has one question at a time, whose answer is kept for a while. A question goes on
 * when the caller no longer waits: the next one has its answer.
 */
final class AheadPoll {
  private static final Duration FRESH = Duration.ofSeconds(10);

  private final Function<Bid, Optional<JobsAhead>> question;
  private final Clock clock;
  private final Tasks tasks;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private final Map<GangId, Asked> asked = new HashMap<>();

  AheadPoll(Function<Bid, Optional<JobsAhead>> question, Clock clock, Tasks tasks) {
    this.question = question;
    this.clock = clock;
    this.tasks = tasks;
  }

  private record Asked(Task<Optional<JobsAhead>, RuntimeException> task, AtomicLong ended) {
    private boolean isOld(long now) {
      return task.isDone() && now - ended.get() >= FRESH.toNanos();
    }
  }

  /** By backend; without those that do not say it, or not within the limit. */
  Map<String, JobsAhead> of(List<Bid> bids, Duration limit) throws InterruptedException {
    List<Task<Optional<JobsAhead>, RuntimeException>> answers =
        bids.stream().map(this::ask).toList();
    long end = clock.nanos() + limit.toNanos();
    var found = new LinkedHashMap<String, JobsAhead>();
    for (int i = 0; i < bids.size(); i++) {
      String backend = bids.get(i).backend();
      try {
        answers
            .get(i)
            .get(Duration.ofNanos(end - clock.nanos()))
            .ifPresent(each -> found.put(backend, each));
      } catch (TimeoutException silent) {
        // The others may have answered.
      }
    }
    return found;
  }

  private Task<Optional<JobsAhead>, RuntimeException> ask(Bid bid) {
    lock.lock();
    try {
      long now = clock.nanos();
      asked.values().removeIf(each -> each.isOld(now));
      return asked.computeIfAbsent(bid.gang(), _ -> fork(bid)).task();
    } finally {
      lock.unlock();
    }
  }

  private Asked fork(Bid bid) {
    var ended = new AtomicLong();
    return new Asked(
        tasks.fork(
            "ahead-" + bid.backend(),
            () -> {
              try {
                return question.apply(bid);
              } finally {
                ended.set(clock.nanos());
              }
            }),
        ended);
  }
}
