package dev.gpush.gateway.session;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.link.BlockingStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A path to a node's workspace that the next session of the same name has, too: a link in the
 * node's home, {@code ~/gpush/devbox/PROJECT}.
 */
final class EditorFolder {
  /**
   * Prints the link, or the workspace itself where the link is not possible: the home cannot be
   * written, something else has that name, or the link leads to a session of another gateway that
   * still works there.
   */
  private static final String SCRIPT =
      """
      folder=$HOME/gpush/$1; link=$folder/$3; old=$(readlink "$link")
      if [ -e "$link" ] && [ ! -L "$link" ]; then link=
      elif [ -n "$old" ] && [ "$old" != "$2" ] && [ -e "$old.gpush/files.lock" ]; then link=
      else mkdir -p "$folder" && ln -sfn "$2" "$link" || link=
      fi 2>/dev/null
      printf %s "${link:-$2}"
      """;

  private EditorFolder() {}

  static String on(LiveSession session, int node) throws InterruptedException {
    NodeInfo info = session.node(node);
    String workspace = info.workspace();
    String host = session.name() + (node == 0 ? "" : "-" + node);
    Json.Obj request =
        NodeCommand.request(
            List.of(
                "/bin/sh",
                "-c",
                SCRIPT,
                "sh",
                host,
                workspace,
                "" + Path.of(workspace).getFileName()),
            workspace,
            Map.of(),
            Optional.empty(),
            false);
    try (BlockingStream stream = session.link(node).openReady(request)) {
      byte[] printed = stream.output(0).readAllBytes();
      stream.awaitClose();
      return printed.length == 0 ? workspace : new String(printed, StandardCharsets.UTF_8);
    } catch (IOException | GpushException broken) {
      return workspace;
    }
  }
}
