package dev.gpush.gateway.session.saves;

import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.sync.NodeFailed;
import dev.gpush.sync.WorkspaceSync;
import dev.gpush.sync.node.SyncNode;
import java.util.List;

/**
 * Leaves nodes out of the pushes of saves, and brings back those that are only slow: each catches
 * up on a thread of its own. Thread-safe.
 */
final class NodesAside {
  private static final System.Logger LOG = System.getLogger("gpush.sync");

  private final String name;
  private final WorkspaceSync sync;
  private final List<SyncNode> nodes;
  private final NodeGenerations generations;
  private final Runnable wake;
  private final Clock clock;
  private final Tasks tasks;

  /**
   * @param name of the session, for the log
   * @param wake there may be something to push
   */
  NodesAside(
      String name,
      WorkspaceSync sync,
      List<SyncNode> nodes,
      NodeGenerations generations,
      Runnable wake,
      Clock clock,
      Tasks tasks) {
    this.name = name;
    this.sync = sync;
    this.nodes = List.copyOf(nodes);
    this.generations = generations;
    this.wake = wake;
    this.clock = clock;
    this.tasks = tasks;
  }

  /** A push has failed on it. */
  void put(NodeFailed failed) {
    int node = failed.node();
    if (!failed.isSlow()) {
      generations.leaveOut(node, failed.why(), clock.nanos());
      return;
    }
    String why = failed.why() + "; it gets the newest version when it answers";
    generations.setAside(node, "it " + why, clock.nanos());
    LOG.log(System.Logger.Level.WARNING, "session={0} node {1} {2}", name, node, why);
    tasks.start("catch-up-" + node, () -> catchUp(node));
  }

  void putLost(SessionPort session) {
    for (int node : generations.all()) {
      if (session.isLost(node)) {
        generations.leaveOut(node, "it is lost", clock.nanos());
      }
    }
  }

  private void catchUp(int node) throws InterruptedException {
    try {
      sync.catchUp(nodes.get(node));
      generations.caughtUp(node);
    } catch (NodeFailed failed) {
      generations.leaveOut(node, failed.why(), clock.nanos());
    }
    wake.run();
  }
}
