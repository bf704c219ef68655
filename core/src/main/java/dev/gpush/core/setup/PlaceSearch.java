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
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Asks all finders for places, and looks at all places, at the same time. What has not answered in
 * time is {@code Unasked}, and no longer waited for; a look is then interrupted. A finder whose
 * files hang, on a dead mount, holds up no other.
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

  private record Listing(PlaceFinder finder, List<PlaceCheck> checks) {}

  private record Look(PlaceCheck check, Task<PlaceFinding, InterruptedException> answer) {}

  /** In the order of the finders and of what each lists. */
  public List<PlaceFinding> all(SetupQuestion question) throws InterruptedException {
    Duration limit = question.isNamed() ? named : usual;
    long end = clock.nanos() + limit.toNanos();
    var listings = new LinkedBlockingQueue<Listing>();
    for (PlaceFinder finder : finders) {
      boolean isStarted =
          tasks.startOnThread(
              "init-" + finder.kind(),
              () -> listings.add(new Listing(finder, list(finder, question))));
      if (!isStarted) {
        throw new InterruptedException("the gateway ends");
      }
    }
    var looks = new HashMap<PlaceFinder, List<Look>>();
    try {
      while (looks.size() < finders.size()) {
        Listing next = listings.poll(left(end).toNanos(), TimeUnit.NANOSECONDS);
        if (next == null) {
          break;
        }
        looks.put(next.finder(), begin(next.checks(), left(end)));
      }
      var found = new ArrayList<PlaceFinding>();
      for (PlaceFinder finder : finders) {
        if (!looks.containsKey(finder)) {
          found.add(unlisted(finder, limit));
        }
        for (Look look : looks.getOrDefault(finder, List.of())) {
          found.add(await(look.check(), look.answer(), end, limit));
        }
      }
      return found;
    } finally {
      looks.values().forEach(begun -> begun.forEach(look -> look.answer().cancel()));
    }
  }

  private List<Look> begin(List<PlaceCheck> checks, Duration left) {
    return checks.stream()
        .map(
            check -> new Look(check, tasks.fork("init-" + check.name(), () -> answer(check, left))))
        .toList();
  }

  private static PlaceFinding unlisted(PlaceFinder finder, Duration limit) {
    String late = "the files that list them were not read within " + DurationText.of(limit);
    return new PlaceFinding.Unasked(finder.kind(), "", late, "mount");
  }

  private PlaceFinding await(
      PlaceCheck check, Task<PlaceFinding, InterruptedException> answer, long end, Duration limit)
      throws InterruptedException {
    try {
      return answer.get(left(end));
    } catch (TimeoutException tooLate) {
      String late = "did not answer within " + DurationText.of(limit);
      return new PlaceFinding.Unasked(
          check.name(), check.origin(), late, "gpush init " + check.name());
    }
  }

  private Duration left(long end) {
    return Duration.ofNanos(Math.max(1, end - clock.nanos()));
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
