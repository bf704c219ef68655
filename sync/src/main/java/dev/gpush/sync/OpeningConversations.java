package dev.gpush.sync;

import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.sync.node.NodeConversation;
import dev.gpush.sync.node.NodeLost;
import dev.gpush.sync.node.SyncNode;
import dev.gpush.sync.tree.Manifest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Conversations that are being opened while the tree is scanned. What has been opened is handed
 * over once, by {@link #arrived}; what opens after {@link #abandon} closes itself.
 */
final class OpeningConversations {
  private final List<SyncNode> nodes;
  private final List<Task<Boolean, IOException>> tasks = new ArrayList<>();

  // guarded by this
  private final List<NodeConversation> arrived = new ArrayList<>();
  private boolean isAbandoned;

  OpeningConversations(List<SyncNode> nodes, String session, Manifest known, Tasks tasks) {
    this.nodes = List.copyOf(nodes);
    for (SyncNode node : nodes) {
      this.tasks.add(
          tasks.fork(
              "open-" + node.info().index(),
              () -> arrive(NodeConversation.open(node, session, known))));
    }
  }

  private boolean arrive(NodeConversation conversation) {
    synchronized (this) {
      if (!isAbandoned) {
        arrived.add(conversation);
        return true;
      }
    }
    conversation.close();
    return false;
  }

  /** Waits for all; the failures of those that could not be opened. */
  List<Exception> await() throws InterruptedException {
    var failures = new ArrayList<Exception>();
    for (int i = 0; i < tasks.size(); i++) {
      try {
        tasks.get(i).get();
      } catch (IOException broken) {
        failures.add(new NodeLost(nodes.get(i).info().index(), broken));
      } catch (RuntimeException failed) {
        failures.add(failed);
      }
    }
    return failures;
  }

  void abandon() {
    synchronized (this) {
      isAbandoned = true;
    }
    tasks.forEach(Task::cancel);
  }

  synchronized List<NodeConversation> arrived() {
    var taken = List.copyOf(arrived);
    arrived.clear();
    return taken;
  }
}
