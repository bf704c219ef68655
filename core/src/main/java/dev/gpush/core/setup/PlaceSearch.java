package dev.gpush.core.setup;

import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.text.CleanText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Asks all finders, and looks at all places, at the same time. What has not answered in time is
 * {@code Unasked}, and its thread is interrupted and no longer waited for.
 */
public final class PlaceSearch {
  private static final System.Logger LOG = System.getLogger("gpush.init");

  /** As long as a person waits for a command without wondering. */
  private static final Duration USUAL = Duration.ofSeconds(5);

  /** For places that the user named: logins through jump hosts and programs take longer. */
  private static final Duration NAMED = Duration.ofSeconds(20);

  private static final int MOST_REASON = 200;

  private final List<PlaceFinder> finders;
  private final Duration usual;
  private final Duration named;
  private final Clock clock;
  private final Tasks tasks;

  /**
   * A search.
   *
   * @param usual how long it may last
   * @param named the same for places that the user named
   */
  public PlaceSearch(
      List<PlaceFinder> finders, Duration usual, Duration named, Clock clock, Tasks tasks) {
    this.finders = List.copyOf(finders);
    this.usual = usual;
    this.named = named;
    this.clock = clock;
    this.tasks = tasks;
  }

  /** With the limits that people have patience for. */
  public static PlaceSearch brief(List<PlaceFinder> finders, Clock clock, Tasks tasks) {
    return new PlaceSearch(finders, USUAL, NAMED, clock, tasks);
  }

  private sealed interface Event {
    record Listed(int finder, List<PlaceCheck> checks) implements Event {}

    record Answered(PlaceCheck check, PlaceFinding finding) implements Event {}
  }

  /** In the order of the finders and of what each lists. */
  public List<PlaceFinding> all(SetupQuestion question) throws InterruptedException {
    Duration limit = question.isNamed() ? named : usual;
    long end = clock.nanos() + limit.toNanos();
    var events = new LinkedBlockingQueue<Event>();
    var forked = new ArrayList<Task<Boolean, RuntimeException>>();
    var listed = new TreeMap<Integer, List<PlaceCheck>>();
    var answers = new HashMap<PlaceCheck, PlaceFinding>();
    try {
      for (int i = 0; i < finders.size(); i++) {
        int number = i;
        forked.add(
            tasks.fork(
                "init",
                () -> events.add(new Event.Listed(number, list(finders.get(number), question)))));
      }
      if (tasks.isClosed()) {
        throw new InterruptedException("nothing is looked for any more");
      }
      int open = finders.size();
      while (open > 0) {
        Event next = events.poll(end - clock.nanos(), TimeUnit.NANOSECONDS);
        if (next == null) {
          break;
        }
        open--;
        switch (next) {
          case Event.Answered(var check, var finding) -> answers.put(check, finding);
          case Event.Listed(var finder, var checks) -> {
            listed.put(finder, checks);
            open += checks.size();
            Duration left = Duration.ofNanos(Math.max(1, end - clock.nanos()));
            for (PlaceCheck check : checks) {
              forked.add(
                  tasks.fork(
                      "init-" + check.name(),
                      () -> events.add(new Event.Answered(check, answer(check, left)))));
            }
          }
        }
      }
    } finally {
      forked.forEach(Task::cancel);
    }
    var found = new ArrayList<>(findings(listed, answers, limit));
    for (int i = 0; i < finders.size(); i++) {
      if (!listed.containsKey(i)) {
        String late = "could not be listed within " + DurationText.of(limit);
        found.add(new PlaceFinding.Unasked(finders.get(i).kind(), "", late, "gpush init NAME"));
      }
    }
    return found;
  }

  private static List<PlaceFinding> findings(
      Map<Integer, List<PlaceCheck>> listed,
      Map<PlaceCheck, PlaceFinding> answers,
      Duration limit) {
    String late = "did not answer within " + DurationText.of(limit);
    return listed.values().stream()
        .flatMap(List::stream)
        .map(
            check ->
                answers.getOrDefault(
                    check,
                    new PlaceFinding.Unasked(
                        check.name(), check.origin(), late, "gpush init " + check.name())))
        .toList();
  }

  private static List<PlaceCheck> list(PlaceFinder finder, SetupQuestion question) {
    try {
      return finder.checks(question);
    } catch (RuntimeException bug) {
      LOG.log(System.Logger.Level.ERROR, "places cannot be listed", bug);
      return List.of(PlaceCheck.unasked(finder.kind(), "", "a bug in gpush", "gpush gateway logs"));
    }
  }

  private static PlaceFinding answer(PlaceCheck check, Duration limit) throws InterruptedException {
    try {
      return check.inspection().look(limit);
    } catch (GpushException failed) {
      String why = CleanText.line(FailureText.clause(failed.failure()), MOST_REASON);
      return new PlaceFinding.Unasked(check.name(), check.origin(), why, "");
    } catch (RuntimeException bug) {
      // A bug about one place must not hide the others.
      LOG.log(System.Logger.Level.ERROR, "cannot look, place=" + check.name(), bug);
      return new PlaceFinding.Unasked(
          check.name(), check.origin(), "a bug in gpush", "gpush gateway logs");
    }
  }
}
