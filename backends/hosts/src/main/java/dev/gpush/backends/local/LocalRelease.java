package dev.gpush.backends.local;

import dev.gpush.core.backend.Gang;
import dev.gpush.core.backend.NodeInfo;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.core.time.DurationText;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;

/**
 * Gives a gang back: every agent is asked to let go, then everything is looked at until it is
 * really gone, the agents and the GPU locks. What was not ours stays and is named.
 */
final class LocalRelease {
  /** An agent answers before it exits; its last milliseconds are not worth more processes. */
  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(50);

  private final String name;
  private final Path folder;
  private final LocalAgents agents;
  private final GpuInventory inventory;
  private final HostLocks locks;
  private final Tasks tasks;

  /**
   * One for a home.
   *
   * @param folder where all gangs of this home have their nodes
   */
  LocalRelease(
      String name,
      Path folder,
      LocalAgents agents,
      GpuInventory inventory,
      HostLocks locks,
      Tasks tasks) {
    this.name = name;
    this.folder = folder;
    this.agents = agents;
    this.inventory = inventory;
    this.locks = locks;
    this.tasks = tasks;
  }

  /** The kept paths, each with its node. */
  List<String> all(Gang gang, Duration limit) throws InterruptedException {
    try {
      return tasks.within(limit, "release-" + gang.id(), () -> release(gang));
    } catch (IOException | RuntimeException failed) {
      throw notReleased(gang, reason(failed), failed);
    } catch (TimeoutException hangs) {
      String reason = "it is still there after " + DurationText.of(limit);
      throw notReleased(gang, reason, hangs);
    }
  }

  /** What a ledger entry and a person are told. */
  private static String reason(Throwable cause) {
    return cause instanceof GpushException failed && isWithoutPython(failed)
        ? "there is no Python here that the agent could use, so nobody can tell"
        : String.valueOf(cause.getMessage());
  }

  private static boolean isWithoutPython(GpushException failed) {
    return failed.failure() instanceof AgentFailure.NoPython
        || failed.failure() instanceof AgentFailure.OldPython;
  }

  private GpushException notReleased(Gang gang, String reason, Throwable cause) {
    return new GpushException(
        new BackendFailure.NotReleased(name, gang.id().text(), reason), cause);
  }

  private List<String> release(Gang gang) throws IOException, InterruptedException {
    List<NodeInfo> nodes = nodes(gang);
    List<Work<List<String>, IOException>> each =
        nodes.stream()
            .<Work<List<String>, IOException>>map(node -> () -> release(gang, node))
            .toList();
    var kept = new ArrayList<String>();
    tasks.all("release", each).forEach(kept::addAll);
    if (nodes.stream().anyMatch(NodeInfo::hasGpus)) {
      awaitLocks(gang);
    }
    removeEmptyFolders(folder.resolve(gang.id().text()));
    return List.copyOf(kept);
  }

  /**
   * Those that the caller knows; after a lost reply it knows none, the agents know themselves. A
   * node's folder is made before its agent: where no Python can say, no folder says that none
   * began.
   */
  private List<NodeInfo> nodes(Gang gang) throws IOException {
    if (!gang.nodes().isEmpty()) {
      return gang.nodes();
    }
    try {
      return agents.of(gang.id()).values().stream().map(LocalAgents::info).toList();
    } catch (GpushException failed) {
      if (isWithoutPython(failed) && Files.notExists(folder.resolve(gang.id().text()))) {
        return List.of();
      }
      throw failed;
    }
  }

  /** The agent names what it keeps from the workspace on; a folder that is all foreign as one. */
  private List<String> release(Gang gang, NodeInfo node) throws IOException, InterruptedException {
    Optional<Json> answer = ask(gang, node, "release");
    if (answer.isEmpty() && hasFiles(node)) {
      // The agent was killed and could not clean up: another one does it, holding nothing.
      agents.restart(gang, node);
      answer = ask(gang, node, "release");
    }
    while (ask(gang, node, "status").isPresent()) {
      Thread.sleep(BETWEEN_LOOKS);
    }
    return answer.map(said -> said.texts("kept")).orElse(List.of()).stream()
        .map(path -> "node " + node.index() + ": " + Path.of(node.workspace()).resolve(path))
        .toList();
  }

  /** Empty when there is no agent. */
  private Optional<Json> ask(Gang gang, NodeInfo node, String what) throws InterruptedException {
    try {
      return Optional.of(agents.control(gang.id(), node.index(), Json.object("do", what)));
    } catch (GpushException failed) {
      if (failed.failure() instanceof AgentFailure.NotThere) {
        return Optional.empty();
      }
      throw failed;
    }
  }

  /** A run that outlived its agent may hold a GPU a moment longer. */
  private void awaitLocks(Gang gang) throws InterruptedException {
    Map<String, String> environment = agents.environment(Map.of());
    List<Gpu> gpus = inventory.stock(environment).gpus();
    while (locks.holders(gpus, environment).values().stream()
        .anyMatch(holder -> holder.gang().equals(gang.id().text()))) {
      Thread.sleep(BETWEEN_LOOKS);
    }
  }

  private static boolean hasFiles(NodeInfo node) {
    return Files.exists(Path.of(node.workspace())) || Files.exists(Path.of(node.state()));
  }

  /** The gang's folder and each node's in it are ours; with somebody's file in them they stay. */
  private static void removeEmptyFolders(Path gang) throws IOException {
    if (!Files.isDirectory(gang)) {
      return;
    }
    try (DirectoryStream<Path> nodes = Files.newDirectoryStream(gang)) {
      nodes.forEach(LocalRelease::removeIfEmpty);
    }
    removeIfEmpty(gang);
  }

  private static void removeIfEmpty(Path path) {
    try {
      if (Files.isDirectory(path)) {
        Files.deleteIfExists(path);
      }
    } catch (IOException notEmpty) {
      // Then it is not ours to remove.
    }
  }
}
