package dev.gpush.gateway.session.lifecycle;

import dev.gpush.core.file.WholeFile;
import dev.gpush.core.json.Json;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.text.Phrase;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.SessionWork;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * The trashes of nodes whose disks end with them. What is small comes into the trash of this
 * machine, because the user has decided about it once; what is large is asked about. Of one command
 * and one thread.
 */
final class NodeTrashes {
  private final Talk talk;
  private final Set<String> home = new HashSet<>();

  NodeTrashes(Talk talk) {
    this.talk = talk;
  }

  /** Whether {@link #bringHome} would keep it. */
  static boolean isSmall(Json trash) {
    return trash.text("tar").isPresent();
  }

  /** Whether it is here now. */
  boolean bringHome(LiveSession session, int node, Json trash) {
    Optional<String> tar = trash.text("tar");
    Optional<SessionWork> work = session.workIfAny();
    if (tar.isEmpty() || work.isEmpty()) {
      return false;
    }
    if (home.contains(tar.get())) {
      return true; // A command looks again, once it has its turn.
    }
    try {
      byte[] bytes = Base64.getDecoder().decode(tar.get());
      Path place = work.get().trash().place("node-" + node + ".tar.gz");
      WholeFile.write(place, out -> out.write(bytes));
      home.add(tar.get());
      String files = Phrase.counted(trash.number("files").orElse(0L), "file");
      talk.say("the trash of node " + node + " (" + files + ") is kept as " + place);
      return true;
    } catch (IOException | IllegalArgumentException notKept) {
      return false;
    }
  }
}
