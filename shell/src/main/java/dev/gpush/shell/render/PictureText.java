package dev.gpush.shell.render;

import dev.gpush.core.run.RunView;
import dev.gpush.core.run.Runs.Picture;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.text.Clean;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** What the interactive shell shows all the time. */
public final class PictureText {
  /** Without a session, or where it cannot be asked. */
  public static final String PLAIN_PROMPT = "gpush > ";

  /** Nothing that is shown changes sooner by itself. */
  private static final Duration QUIET = Duration.ofMinutes(1);

  private static final long MINUTE = 60;

  private final Picture picture;
  private final Instant now;

  public PictureText(Picture picture, Instant now) {
    this.picture = picture;
    this.now = now;
  }

  public String prompt() {
    return picture.session().map(view -> SessionText.prompt(view, running())).orElse(PLAIN_PROMPT);
  }

  /** The line below the one that is edited; empty without a session. */
  public String status() {
    return picture.session().map(this::status).orElse("");
  }

  private String status(SessionView session) {
    var parts = new ArrayList<String>();
    parts.add(session.name() + " on " + session.backend());
    parts.add(session.shape());
    boolean isWhole = session.state() == SessionState.READY;
    String detail = session.detail();
    parts.add(session.state().word() + (isWhole || detail.isEmpty() ? "" : ": " + detail));
    parts.add(SessionText.lease(session));
    session.place().cost().ifPresent(cost -> parts.add("cost " + cost.text()));
    if (!session.sync().nodes().isEmpty() && session.sync().mode() != SyncView.Mode.OFF) {
      parts.add(new SyncText(session.sync()).prompt());
    }
    for (RunView run : running().reversed()) {
      parts.add(run.label(Duration.between(run.started(), now)));
    }
    return Clean.line(String.join(" · ", parts.stream().filter(part -> !part.isEmpty()).toList()));
  }

  private List<RunView> running() {
    return picture.runs().stream().filter(run -> !run.isOver()).toList();
  }

  /** How long it stays as it is, as far as that is known. */
  public Duration untilNext() {
    Stream<Duration> leases =
        picture.session().stream()
            .flatMap(view -> Stream.of(view.hardEndLeft(), view.idleLeft()))
            .flatMap(left -> left.stream())
            .map(PictureText::untilLess);
    Stream<Duration> runs =
        running().stream().map(run -> untilMore(Duration.between(run.started(), now)));
    return Stream.concat(leases, runs)
        .reduce(QUIET, (one, other) -> one.compareTo(other) < 0 ? one : other);
  }

  /** Minutes are shown to the nearest one, and below one seconds. */
  private static Duration untilLess(Duration left) {
    long seconds = left.toSeconds();
    return Duration.ofSeconds(
        seconds <= MINUTE ? 1 : Math.min((seconds + MINUTE / 2) % MINUTE, seconds - MINUTE) + 1);
  }

  /** Seconds of what is young are shown in tens. */
  private static Duration untilMore(Duration age) {
    long seconds = Math.max(0, age.toSeconds());
    return Duration.ofSeconds(
        seconds < MINUTE ? 10 - seconds % 10 : MINUTE - (seconds + MINUTE / 2) % MINUTE);
  }
}
