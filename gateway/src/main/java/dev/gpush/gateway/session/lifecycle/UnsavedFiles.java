package dev.gpush.gateway.session.lifecycle;

import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.Phrase;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.SessionAgents;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiPredicate;

/**
 * Files that exist only on the nodes, if their disks end with them: gpush asks before they are
 * lost.
 */
final class UnsavedFiles {
  private static final int MOST_NAMED = 3;

  /** An agent searches for 20 s at most. */
  private static final Duration LIMIT = Duration.ofSeconds(40);

  private UnsavedFiles() {}

  /**
   * What to ask before they are lost.
   *
   * @param trashes keeps what is small of what the user has replaced
   */
  static Optional<String> question(LiveSession session, NodeTrashes trashes)
      throws InterruptedException {
    return words(session, (node, trash) -> trashes.bringHome(session, node, trash))
        .map(lost -> lost + "; give the nodes back?");
  }

  /**
   * What would be lost.
   *
   * @param isKept whether what is in the trash of a node is not lost with it
   */
  static Optional<String> words(LiveSession session, BiPredicate<Integer, Json> isKept)
      throws InterruptedException {
    if (session.backend().capabilities().keepsFiles() || session.entry().grant().isEmpty()) {
      return Optional.empty();
    }
    List<Integer> nodes =
        session.gang().nodes().stream()
            .map(NodeInfo::index)
            .filter(node -> !session.isLost(node))
            .toList();
    Map<Integer, Json> said =
        new SessionAgents(session)
            .ask(session.gang().id(), nodes, Json.object("do", "unsaved"), LIMIT);
    long files = 0;
    long bytes = 0;
    var named = new ArrayList<String>();
    var silent = new ArrayList<String>();
    for (int node : nodes) {
      Json there = said.getOrDefault(node, Json.object());
      files += there.number("files").orElse(0L);
      bytes += there.number("bytes").orElse(0L);
      there.texts("paths").forEach(path -> named.add("node " + node + ": " + path));
      for (Json trash : there.items("trash")) {
        if (!isKept.test(node, trash)) {
          files += trash.number("files").orElse(0L);
          bytes += trash.number("bytes").orElse(0L);
          named.add("node " + node + ": its trash");
        }
      }
      if (!there.flag("whole")) {
        silent.add(Integer.toString(node));
      }
    }
    return files > 0 || !silent.isEmpty()
        ? Optional.of(words(session, files, bytes, named, silent))
        : Optional.empty();
  }

  private static String words(
      LiveSession session, long files, long bytes, List<String> named, List<String> silent) {
    var words = new StringBuilder();
    if (files > 0) {
      words.append(Phrase.counted(files, "file")).append(", ").append(Phrase.size(bytes));
      words.append(files == 1 ? ", exists" : ", exist").append(" only on the nodes of ");
      words.append(session.name()).append(" and would be lost (");
      words.append(String.join(", ", named.stream().limit(MOST_NAMED).toList()));
      words.append(named.size() > MOST_NAMED || files > named.size() ? ", …)" : ")");
    }
    if (!silent.isEmpty()) {
      words.append(files > 0 ? "; " : "").append("gpush could not check node ");
      words.append(String.join(", ", silent)).append(" for files that exist only there");
    }
    return words.toString();
  }
}
