package dev.gpush.gateway.session.placement;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.session.Outlook.Answer;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Asks all backends at once what they could grant. A silent backend does not delay the others: once
 * one could grant now, the rest have a short time left.
 */
public final class PlanPoll {
  private static final System.Logger LOG = System.getLogger("gpush.session");

  private final Duration limit;
  private final Duration grace;
  private final Clock clock;
  private final Tasks tasks;

  /**
   * @param limit for each answer
   * @param grace what the others may still take once one could grant now
   */
  PlanPoll(Duration limit, Duration grace, Clock clock, Tasks tasks) {
    this.limit = limit;
    this.grace = grace;
    this.clock = clock;
    this.tasks = tasks;
  }

  private record Heard(Backend backend, Answer answer) {}

  /** In the order of the backends. A single backend has no limit. */
  Map<Backend, Answer> all(List<Backend> backends, Function<Backend, GangRequest> request)
      throws InterruptedException {
    if (backends.size() == 1) {
      Backend only = backends.getFirst();
      return Map.of(only, answer(only, request.apply(only)));
    }
    var heard = new LinkedBlockingQueue<Heard>();
    var asked = new ArrayList<Task<Boolean, RuntimeException>>();
    try {
      for (Backend backend : backends) {
        asked.add(
            tasks.fork(
                "plan-" + backend.name(),
                () -> heard.add(new Heard(backend, answer(backend, request.apply(backend))))));
      }
      if (tasks.isClosed()) {
        throw new InterruptedException("the backends are no longer asked");
      }
      return gathered(backends, heard);
    } finally {
      asked.forEach(Task::cancel);
    }
  }

  private Map<Backend, Answer> gathered(List<Backend> backends, LinkedBlockingQueue<Heard> heard)
      throws InterruptedException {
    var answers = new HashMap<Backend, Answer>();
    long begun = clock.nanos();
    long end = begun + limit.toNanos();
    while (answers.size() < backends.size()) {
      Heard next = heard.poll(end - clock.nanos(), TimeUnit.NANOSECONDS);
      if (next == null) {
        break;
      }
      answers.put(next.backend(), next.answer());
      if (next.answer() instanceof Answer.Planned(Plan.Now _)) {
        long soon = clock.nanos() + grace.toNanos();
        end = soon - end < 0 ? soon : end;
      }
    }
    Duration waited = Duration.ofNanos(clock.nanos() - begun);
    for (Backend silent : backends) {
      answers.computeIfAbsent(
          silent,
          backend ->
              new Answer.Failed(
                  new BackendFailure.NoAnswer(
                      backend.name(), DurationText.of(waited.plusMillis(999)))));
    }
    return answers;
  }

  private static Optional<Plan> withoutVolumes(Backend backend, GangRequest request) {
    List<String> needed = request.data().needed();
    boolean isBorrowed = request.attach().isPresent();
    if (needed.isEmpty() || (backend.capabilities().mountsVolumes() && !isBorrowed)) {
      return Optional.empty();
    }
    String reason = isBorrowed ? "pods that run already get no volumes" : "it mounts no volumes";
    return Optional.of(
        new Plan.Never(
            reason + ", and gpush.yaml names them: " + String.join(", ", needed),
            List.of(
                "in gpush.local.yaml, folders of the nodes: " + needed.getFirst() + ": /PATH")));
  }

  private static Answer answer(Backend backend, GangRequest request) {
    try {
      return new Answer.Planned(
          withoutVolumes(backend, request).orElseGet(() -> backend.plan(request)));
    } catch (GpushException failed) {
      return new Answer.Failed(failed.failure());
    } catch (RuntimeException bug) {
      // A bug in one backend must not stop the others; it is reported as its answer.
      LOG.log(System.Logger.Level.ERROR, "no plan, backend=" + backend.name(), bug);
      Failure failure =
          new BackendFailure.Unavailable(backend.name(), "a bug in gpush", "gpush gateway logs");
      return new Answer.Failed(failure);
    }
  }
}
