package dev.gpush.gateway.session;

import dev.gpush.core.session.UpRequest;
import dev.gpush.core.talk.Talk;
import java.util.Optional;

/**
 * What becomes of another Python that {@code up} asks for on a session that is there. It needs no
 * other nodes, so the session takes it: {@code --replace} is for what does.
 */
final class PythonChange {
  private PythonChange() {}

  /** Takes the one that was asked for by a flag; one of the project's files is only named. */
  static void apply(LiveSession session, UpRequest request, Wish wish, Talk talk) {
    Optional<String> has = session.entry().python();
    if (request.attachOnly() || wish.python().isEmpty() || wish.python().equals(has)) {
      return;
    }
    String wanted = wish.python().get();
    if (request.python().isPresent()) {
      session.move(session.entry().withPython(wanted));
      session.workIfAny().ifPresent(SessionWork::pythonChanged);
      talk.say(
          "runs on "
              + session.name()
              + " use "
              + wanted
              + " from now on"
              + has.map(before -> ", not " + before).orElse("")
              + "; runs in progress keep theirs");
    } else if (has.isPresent()) {
      talk.say(
          session.name()
              + " was asked for with --python "
              + has.get()
              + ", the project says "
              + wanted
              + "; gpush up --python "
              + wanted
              + " changes it");
    }
  }
}
