package dev.gpush.core.run;

import dev.gpush.core.session.SessionName;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Where to launch a run.
 *
 * @param session by name; empty: the session of the run's folder
 * @param backend only there; a session on another backend is not used
 * @param natives options for the backend's own command, of a session that is made for the run
 * @param hardEnd of such a session, from now; empty: as configured
 */
public record RunTarget(
    Optional<SessionName> session,
    Optional<String> backend,
    List<String> natives,
    Optional<Duration> hardEnd) {
  public RunTarget {
    natives = List.copyOf(natives);
  }

  /** The same on this session. */
  public RunTarget on(SessionName named) {
    return new RunTarget(Optional.of(named), backend, natives, hardEnd);
  }
}
