package dev.gpush.shell.why;

import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.Outlook.Smaller;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions.EndedRequest;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.Phrase;
import dev.gpush.core.text.SessionCommands;
import dev.gpush.shell.text.RunFailureText;
import dev.gpush.shell.why.Explanation.Code;
import dev.gpush.shell.why.Explanation.Evidence;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Why nothing runs: of a session, of a run that is over, and of a request that failed. */
public final class SessionExplanation {
  /** A run that failed earlier than that is no news. */
  private static final Duration RECENT = Duration.ofHours(1);

  private SessionExplanation() {}

  /**
   * What is known about a wait besides its reason, by backend.
   *
   * @param ahead what comes before it in the queues
   * @param smaller what would be granted now
   */
  public record Wait(Map<String, JobsAhead> ahead, Map<String, Smaller> smaller) {
    public static Wait unknown() {
      return new Wait(Map.of(), Map.of());
    }
  }

  /** Of one without nodes; runs can be on no other. */
  public static Explanation of(
      SessionView session, Wait wait, SessionCommands commands, Instant now) {
    return waits(session)
        ? queued(session, wait, commands, now)
        : of(session, Optional.empty(), commands, now);
  }

  /** For nodes, and not for the user. */
  public static boolean waits(SessionView session) {
    return session.state().isWaiting() && session.status().needsLogin().isEmpty();
  }

  /**
   * @param last its newest run, which is over
   */
  public static Explanation of(
      SessionView session, Optional<RunView> last, SessionCommands commands, Instant now) {
    String name = session.name().text();
    Optional<String> login = session.status().needsLogin();
    if (login.isPresent()) {
      return Explanation.of(
          Code.NEEDS_LOGIN,
          name + " needs you" + colon(session.detail()) + ". Nothing is lost",
          "gpush login " + login.get());
    }
    return switch (session.state()) {
      case ASKED, QUEUED -> queued(session, Wait.unknown(), commands, now);
      case GRANTED ->
          Explanation.of(
              Code.STARTING,
              name + " has its nodes and is starting" + colon(session.detail()),
              commands.of("nodes"));
      case DEGRADED ->
          Explanation.of(
              Code.DEGRADED,
              name + " is degraded" + colon(session.detail()),
              commands.of("up --replace"),
              commands.of("nodes"));
      case RELEASING, RELEASED, LEAKED ->
          Explanation.of(
              Code.ENDING,
              name + " is " + session.state().word() + colon(session.detail()),
              "gpush doctor");
      case READY -> ready(session, last, commands, now);
    };
  }

  private static String colon(String detail) {
    return detail.isEmpty() ? "" : ": " + detail;
  }

  private static Explanation queued(
      SessionView session, Wait wait, SessionCommands commands, Instant now) {
    Map<String, Smaller> smaller = wait.smaller();
    Duration since = Duration.between(session.created(), now);
    String name = session.name().text();
    String down = "gpush down " + name;
    Optional<String> other =
        smaller.values().stream().findFirst().map(part -> commands.of("up " + part.options()));
    Explanation found =
        Explanation.of(
            Code.QUEUED,
            name
                + " has waited for "
                + session.shape()
                + " on "
                + session.backend()
                + " for "
                + DurationText.coarse(since)
                + colon(session.detail()),
            commands.of("up --dry-run")
                + (smaller.isEmpty()
                    ? " says what smaller request would start, and when this one"
                    : " says when this one could start"),
            other.map(up -> down + ", then " + up).orElse(""),
            down + " cancels it");
    for (Map.Entry<String, JobsAhead> each : wait.ahead().entrySet()) {
      String where = wait.ahead().size() > 1 ? "on " + each.getKey() + ", " : "";
      found = found.with(where + ahead(each.getValue()));
    }
    for (Map.Entry<String, Smaller> each : smaller.entrySet()) {
      found = found.with(each.getKey() + " would grant " + each.getValue().options() + " now");
    }
    return found;
  }

  private static String ahead(JobsAhead jobs) {
    String count = jobs.jobs() == 0 ? "no" : Phrase.count(jobs.jobs());
    return count
        + (jobs.jobs() > 1 ? " jobs" : " job")
        + (jobs.othersHidden() ? " that you can see" : "")
        + (jobs.jobs() > 1 ? " are" : " is")
        + " ahead of it in "
        + jobs.queue()
        + (jobs.who().isEmpty() ? "" : ": " + String.join(", ", jobs.who()))
        + (jobs.othersHidden() ? "; the site may hide jobs of other users" : "");
  }

  private static Explanation ready(
      SessionView session, Optional<RunView> last, SessionCommands commands, Instant now) {
    String activity = session.lease().activity();
    String name = session.name().text();
    Explanation found =
        isBusy(session)
            ? Explanation.of(
                Code.BUSY, name + " has no run in progress, but is " + activity, commands.of("top"))
            : Explanation.of(
                Code.IDLE,
                name + (activity.isEmpty() ? " runs nothing" : " is " + activity),
                commands.of("extend") + " keeps it for another idle time",
                commands.of("down") + " gives it back now");
    for (String line : lease(session)) {
      found = found.with(line);
    }
    return last.isPresent() ? found.with(ended(last.get(), now)) : found;
  }

  /** While something keeps it, its idle time has no end. */
  private static boolean isBusy(SessionView session) {
    return session.idleLeft().isEmpty() && !session.lease().activity().isEmpty();
  }

  /** The run that failed as the last thing that happened here, and not long ago. */
  public static Optional<RunView> justFailed(
      SessionView session, Optional<RunView> last, Instant now) {
    return last.filter(_ -> session.state() == SessionState.READY && !isBusy(session))
        .filter(run -> run.failure().isPresent())
        .filter(
            run ->
                run.progress()
                    .ended()
                    .filter(at -> Duration.between(at, now).compareTo(RECENT) < 0)
                    .isPresent());
  }

  private static List<String> lease(SessionView session) {
    var lines = new ArrayList<String>();
    session
        .idleLeft()
        .ifPresent(
            left ->
                lines.add(
                    "its nodes are given back in "
                        + DurationText.coarse(left)
                        + " if nothing uses them; an open connection does not count as use"));
    session
        .hardEndLeft()
        .ifPresent(
            left ->
                lines.add(
                    "its nodes are given back in " + DurationText.coarse(left) + " in any case"));
    session
        .place()
        .cost()
        .ifPresent(
            cost ->
                lines.add(
                    String.format(Locale.ROOT, "it costs %.2f an hour, ", cost.hour())
                        + cost.text()));
    return lines;
  }

  private static String ended(RunView run, Instant now) {
    return run.label(took(run, now)) + " " + end(run) + ago(run, now);
  }

  private static Duration took(RunView run, Instant now) {
    return Duration.between(run.started(), run.progress().ended().orElse(now));
  }

  private static String ago(RunView run, Instant now) {
    return run.progress()
        .ended()
        .map(at -> ", " + DurationText.coarse(Duration.between(at, now)) + " ago")
        .orElse("");
  }

  private static String end(RunView run) {
    return switch (run.state()) {
      case DONE -> "is done";
      case STOPPED -> "was stopped";
      case FAILED -> "failed" + run.exit().map(exit -> " with exit status " + exit).orElse("");
      case LOST -> "was lost";
      case STARTING, RUNNING, STOPPING -> "is " + run.state().word();
      case UNKNOWN -> "has an end that is not known: the link to a node ended before it";
    };
  }

  /**
   * @param lines what the rank that failed first printed last
   */
  public static Explanation ofEnded(
      RunView run, List<String> lines, SessionCommands commands, Instant now) {
    Optional<String> reason = run.failure().map(failure -> new RunFailureText(failure).line());
    String text = ended(run, now) + reason.map(line -> ": " + line).orElse("");
    String number = "" + run.number();
    Code code =
        switch (run.state()) {
          case DONE -> Code.DONE;
          case STOPPED -> Code.STOPPED;
          case FAILED, LOST -> Code.FAILED;
          case STARTING, RUNNING, STOPPING, UNKNOWN -> Code.UNKNOWN;
        };
    if (code != Code.FAILED) {
      return Explanation.of(code, text, commands.of("logs " + number));
    }
    String rank =
        run.failure()
            .map(failure -> failure.rank() < 0 ? " --launcher" : " --rank " + failure.rank())
            .orElse("");
    Explanation found = Explanation.of(code, text, commands.of("logs " + number + rank));
    return lines.isEmpty() ? found : found.with(new Evidence("it printed last:", lines));
  }

  /** A request that failed while no command waited for it. */
  public static Explanation ofRequest(EndedRequest request, SessionCommands commands, Instant now) {
    return Explanation.of(
        Code.REFUSED,
        request.session()
            + ", requested "
            + DurationText.coarse(Duration.between(request.asked(), now))
            + " ago, failed: "
            + request.why(),
        commands.of("up"),
        commands.of("up --dry-run") + " says where it could start");
  }
}
