package dev.gpush.launch.node;

import dev.gpush.core.config.NodeFolder;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.task.Tasks;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Where the configured {@code outputs} is on each node. A run that needs no Python still has to
 * know the user's home and name there.
 */
public final class OutputFolders {
  /** Enough for a shell that starts from a slow disk. */
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private static final List<String> WHO =
      List.of("/bin/sh", "-c", "printf '%s\\n%s\\n' \"$HOME\" \"${USER:-$(id -un)}\"");

  private final LaunchSite site;
  private final Tasks tasks;

  public OutputFolders(LaunchSite site, Tasks tasks) {
    this.site = site;
    this.tasks = tasks;
  }

  /**
   * One for each node, or none if nothing is configured.
   *
   * @param pythons of these nodes; empty if the run needs none
   */
  public List<String> of(List<Integer> nodes, List<PythonFacts> pythons)
      throws InterruptedException {
    Optional<NodeFolder> configured = site.outputs();
    if (configured.isEmpty()) {
      return List.of();
    }
    NodeFolder folder = configured.get();
    if (folder.isPlain()) {
      return nodes.stream().map(_ -> folder.text()).toList();
    }
    if (!pythons.isEmpty()) {
      return pythons.stream()
          .map(PythonFacts::account)
          .map(account -> folder.at(account.home(), account.user()))
          .toList();
    }
    return tasks.each("outputs", nodes, node -> asked(site.nodes().get(node), folder));
  }

  private static String asked(LaunchNode node, NodeFolder folder) throws InterruptedException {
    NodeCalls.Answer answer = node.calls().ask(WHO, Map.of(), LIMIT);
    List<String> lines = answer.output().lines().toList();
    if (answer.exit() == 0 && lines.size() == 2 && lines.getFirst().startsWith("/")) {
      return folder.at(lines.getFirst(), lines.getLast());
    }
    throw new GpushException(
        new LaunchFailure.Refused(node.info().index(), "broken", "it did not report $HOME"));
  }
}
