package dev.gpush.sync;

import dev.gpush.core.task.Tasks;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Conversations that are being opened while the tree is scanned. What has been opened is handed
 * over once, by {@link #arrived}; what opens after {@link #abandon} closes itself.
 */
final class Opening {
  private final List<SyncNode> nodes;
  private final List<Future<Boolean>> futures = new ArrayList<>();
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private final List<NodeConversation> arrived = new ArrayList<>();
  private boolean isAbandoned;

  Opening(List<SyncNode> nodes, String session, Manifest known, Tasks tasks) {
    this.nodes = List.copyOf(nodes);
    for (SyncNode node : nodes) {
      futures.add(
          tasks.fork(
              "open-" + node.info().index(),
              () -> arrive(NodeConversation.open(node, session, known))));
    }
  }

  private boolean arrive(NodeConversation conversation) {
    lock.lock();
    try {
      if (!isAbandoned) {
        arrived.add(conversation);
        return true;
      }
    } finally {
      lock.unlock();
    }
    conversation.close();
    return false;
  }

  /** Waits for all; the failures of those that could not be opened. */
  List<Throwable> await() throws InterruptedException {
    var failures = new ArrayList<Throwable>();
    for (int i = 0; i < futures.size(); i++) {
      try {
        futures.get(i).get();
      } catch (ExecutionException failed) {
        failures.add(Conversations.lost(nodes.get(i), failed));
      }
    }
    return failures;
  }

  void abandon() {
    lock.lock();
    try {
      isAbandoned = true;
    } finally {
      lock.unlock();
    }
    futures.forEach(future -> future.cancel(true));
  }

  List<NodeConversation> arrived() {
    lock.lock();
    try {
      var taken = List.copyOf(arrived);
      arrived.clear();
      return taken;
    } finally {
      lock.unlock();
    }
  }
}
