package dev.gpush.core.run;

import dev.gpush.core.session.SessionName;
import java.util.Optional;

/**
 * Where to launch a run.
 *
 * @param session by name; empty: the session of the run's folder
 * @param backend only there; a session on another backend is not used
 */
public record RunTarget(Optional<SessionName> session, Optional<String> backend) {}
