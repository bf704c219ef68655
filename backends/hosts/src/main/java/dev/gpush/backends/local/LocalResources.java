package dev.gpush.backends.local;

import dev.gpush.backends.hosts.AgentCalls;
import dev.gpush.backends.hosts.FailureWords;
import dev.gpush.backends.hosts.GangRelease;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.NodeInfo;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** What nodes of this machine have besides their agents: folders in this home, GPU locks. */
final class LocalResources implements GangRelease.Resources {
  static final Duration BETWEEN_LOOKS = Duration.ofMillis(50);

  private final Path folder;
  private final LocalAgents agents;
  private final GpuInventory inventory;
  private final HostLocks locks;

  /**
   * One for a home.
   *
   * @param folder where all gangs of this home have their nodes
   */
  LocalResources(Path folder, LocalAgents agents, GpuInventory inventory, HostLocks locks) {
    this.folder = folder;
    this.agents = agents;
    this.inventory = inventory;
    this.locks = locks;
  }

  @Override
  public String reason(Throwable cause) {
    return cause instanceof GpushException failed && isWithoutPython(failed)
        ? "there is no Python here that the agent could use, so nobody can tell"
        : FailureWords.of(cause);
  }

  private static boolean isWithoutPython(GpushException failed) {
    return failed.failure() instanceof AgentFailure.NoPython
        || failed.failure() instanceof AgentFailure.OldPython;
  }

  /**
   * A node's folder is made before its agent: where no Python can say, no folder says that none
   * began.
   */
  @Override
  public List<NodeInfo> find(Gang gang) throws IOException {
    try {
      return agents.of(gang.id()).values().stream().map(AgentCalls::info).toList();
    } catch (GpushException failed) {
      if (isWithoutPython(failed) && Files.notExists(folder.resolve(gang.id().text()))) {
        return List.of();
      }
      throw failed;
    }
  }

  @Override
  public void awaitEnd(Gang gang, List<NodeInfo> nodes) throws IOException, InterruptedException {
    if (nodes.stream().anyMatch(NodeInfo::hasGpus)) {
      awaitLocks(gang);
    }
    removeEmptyFolders(folder.resolve(gang.id().text()));
  }

  private void awaitLocks(Gang gang) throws InterruptedException {
    Map<String, String> environment = agents.environment(Map.of());
    List<Gpu> gpus = inventory.stock(environment).gpus();
    while (locks.holders(gpus, environment).values().stream()
        .anyMatch(holder -> holder.gang().equals(gang.id().text()))) {
      Thread.sleep(BETWEEN_LOOKS);
    }
  }

  @Override
  public boolean hasFiles(NodeInfo node) {
    return Files.exists(Path.of(node.workspace())) || Files.exists(Path.of(node.state()));
  }

  /** The gang's folder and each node's in it are ours; with somebody's file in them they stay. */
  private static void removeEmptyFolders(Path gang) throws IOException {
    if (!Files.isDirectory(gang)) {
      return;
    }
    try (DirectoryStream<Path> nodes = Files.newDirectoryStream(gang)) {
      nodes.forEach(LocalResources::removeIfEmpty);
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
