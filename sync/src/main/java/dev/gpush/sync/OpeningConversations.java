package dev.gpush.sync;

import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.sync.node.NodeConversation;
import dev.gpush.sync.node.SyncNode;
import dev.gpush.sync.pace.NodeStep;
import dev.gpush.sync.pace.NodeWaiting;
import dev.gpush.sync.pace.SlowNodes;
import dev.gpush.sync.tree.Manifest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Conversations that are being opened while the tree is scanned. What opens after {@link #abandon}
 * closes itself.
 */
final class OpeningConversations {
  private final List<SyncNode> nodes;
  private final Map<Integer, NodeWaiting> waitings;
  private final List<Task<Boolean, IOException>> tasks = new ArrayList<>();

  // guarded by this
  private final List<NodeConversation> arrived = new ArrayList<>();
  private final Map<SyncNode, Thread> openers = new HashMap<>();
  private final Set<SyncNode> cut = new HashSet<>();
  private final Set<Integer> ended = new HashSet<>();
  private Optional<NodeStep> step = Optional.empty();
  private boolean isAbandoned;

  OpeningConversations(List<SyncNode> nodes, Manifest known, SlowNodes slow, Tasks tasks) {
    this.nodes = List.copyOf(nodes);
    this.waitings =
        nodes.stream().collect(Collectors.toMap(it -> it.info().index(), _ -> slow.newWaiting()));
    for (SyncNode node : nodes) {
      this.tasks.add(
          tasks.fork("open-" + node.info().index(), () -> arrive(openUnlessCut(node, known))));
    }
  }

  private NodeConversation openUnlessCut(SyncNode node, Manifest known)
      throws IOException, InterruptedException {
    synchronized (this) {
      requireUncut(node);
      openers.put(node, Thread.currentThread());
    }
    try {
      return NodeConversation.open(
          node, known, Objects.requireNonNull(waitings.get(node.info().index())));
    } catch (InterruptedException stop) {
      requireUncut(node);
      throw stop;
    } finally {
      synchronized (this) {
        openers.remove(node);
        ended.add(node.info().index());
        step.ifPresent(waited -> waited.done(node.info().index()));
      }
    }
  }

  private synchronized void requireUncut(SyncNode node) throws IOException {
    if (cut.contains(node)) {
      throw new IOException("its link was cut");
    }
  }

  /** Does not wait for this node any longer, and ends its conversation if it is open already. */
  synchronized void cut(SyncNode node) {
    cut.add(node);
    Optional.ofNullable(openers.get(node)).ifPresent(Thread::interrupt);
    arrived.stream().filter(each -> each.node().equals(node)).forEach(NodeConversation::close);
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

  /** From now on an operation waits for them. */
  synchronized void awaited(SlowNodes slow) {
    var left = new HashMap<>(waitings);
    left.keySet().removeAll(ended);
    step = Optional.of(slow.begin(nodes.size(), left));
  }

  /** Waits for all; the failures of those that could not be opened. */
  List<Exception> await() throws InterruptedException {
    var failures = new ArrayList<Exception>();
    for (int i = 0; i < tasks.size(); i++) {
      try {
        tasks.get(i).get();
      } catch (IOException broken) {
        failures.add(NodeFailed.lost(nodes.get(i).info().index(), broken));
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
    return List.copyOf(arrived);
  }
}
