package dev.gpush.core.run;

import dev.gpush.core.failure.Failure;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;

/** What happens to the session of a run while the run is launched. */
public sealed interface LaunchEvent {
  /** The existing session has ended; another one follows. */
  record SessionGone(String session, String reason) implements LaunchEvent {}

  /** A session was made for this run. It stays when the run ends. */
  record SessionMade(SessionView session) implements LaunchEvent {}

  /** The launch failed, so the session that was made for it was given back. */
  record SessionGivenBack(SessionName session, Sessions.GivenBack end) implements LaunchEvent {}

  /** The launch failed, and giving back the session that was made for it failed too: it is kept. */
  record SessionKept(SessionName session, Failure failure) implements LaunchEvent {}
}
