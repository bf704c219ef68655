package dev.gpush.gateway.session.lifecycle;

import dev.gpush.core.session.UpRequest;
import dev.gpush.core.session.UpRequest.Existing;
import dev.gpush.core.talk.Talk;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.SessionWork;
import dev.gpush.gateway.session.placement.ResolvedUp;
import java.util.Optional;

/**
 * Handles an {@code up} that asks for another Python on an existing session. That needs no other
 * nodes, so it does not need {@code --replace}.
 */
public final class PythonChange {
  private PythonChange() {}

  /** Uses a Python given by a flag; one of the project's files is only mentioned. */
  public static void apply(LiveSession session, UpRequest request, ResolvedUp wish, Talk talk) {
    Optional<String> has = session.entry().asked().python();
    if (request.existing() == Existing.TAKE_ANY
        || wish.asked().python().isEmpty()
        || wish.asked().python().equals(has)) {
      return;
    }
    String wanted = wish.asked().python().get();
    if (request.wanted().python().isPresent()) {
      session.change(was -> was.withPython(wanted));
      session.workIfAny().ifPresent(SessionWork::pythonChanged);
      talk.say(
          "shells and runs on "
              + session.name()
              + " use "
              + wanted
              + " from now on"
              + has.map(before -> ", not " + before).orElse("")
              + "; what is running keeps its own");
    } else if (has.isPresent()) {
      talk.say(
          session.name()
              + " was made with --python "
              + has.get()
              + ", and the project says "
              + wanted
              + "; gpush up --python "
              + wanted
              + " changes it");
    }
  }
}
