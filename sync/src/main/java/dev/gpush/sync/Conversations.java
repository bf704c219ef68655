package dev.gpush.sync;

import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/**
 * The conversations that are kept open between pushes, one per node, and work on all of them at
 * once. Guarded by the lock of {@link WorkspaceSync}.
 */
final class Conversations implements AutoCloseable {
  private final String session;
  private final Tasks tasks;
  private final Map<SyncNode, NodeConversation> open = new HashMap<>();

  /** What was written last: nodes that still hold it need not tell it. */
  private Manifest known = Manifest.empty();

  Conversations(String session, Tasks tasks) {
    this.session = session;
    this.tasks = tasks;
  }

  /** Something to do with one node. */
  @FunctionalInterface
  interface Work<T> {
    T on(NodeConversation node) throws IOException, InterruptedException, TreeChanged;
  }

  /**
   * One per node, in their order.
   *
   * @param fresh gets those that had to be opened: what they hold was looked at just now
   */
  List<NodeConversation> with(List<SyncNode> nodes, Set<NodeConversation> fresh)
      throws InterruptedException, NodeLost {
    List<SyncNode> closed = nodes.stream().filter(node -> !open.containsKey(node)).toList();
    var opening = new ArrayList<Future<NodeConversation>>();
    for (SyncNode node : closed) {
      opening.add(
          tasks.fork(
              "open-" + node.info().index(), () -> NodeConversation.open(node, session, known)));
    }
    var failures = new ArrayList<Throwable>();
    for (int i = 0; i < closed.size(); i++) {
      try {
        NodeConversation conversation = opening.get(i).get();
        open.put(closed.get(i), conversation);
        fresh.add(conversation);
      } catch (ExecutionException failed) {
        failures.add(lost(closed.get(i), failed));
      } catch (InterruptedException stop) {
        opening.forEach(future -> future.cancel(true));
        throw stop;
      }
    }
    throwFirst(failures);
    return nodes.stream().map(open::get).toList();
  }

  /** Nodes that are not among these are not kept in mind. */
  void retain(List<SyncNode> nodes) {
    List.copyOf(open.values()).stream()
        .filter(conversation -> !nodes.contains(conversation.node()))
        .forEach(this::drop);
  }

  /**
   * Does it on all at once and waits for all; then the first failure is thrown. A conversation that
   * broke is dropped.
   */
  <T> List<T> each(String what, List<NodeConversation> nodes, Work<T> work)
      throws InterruptedException, NodeLost, TreeChanged {
    var futures = new ArrayList<Future<T>>();
    for (NodeConversation node : nodes) {
      futures.add(tasks.fork(what + "-" + node.index(), () -> work.on(node)));
    }
    var results = new ArrayList<T>();
    var failures = new ArrayList<Throwable>();
    for (int i = 0; i < nodes.size(); i++) {
      try {
        results.add(futures.get(i).get());
      } catch (ExecutionException failed) {
        Throwable cause = lost(nodes.get(i).node(), failed);
        if (cause instanceof NodeLost) {
          drop(nodes.get(i));
        }
        failures.add(cause);
      } catch (InterruptedException stop) {
        futures.forEach(future -> future.cancel(true));
        nodes.forEach(this::drop);
        throw stop;
      }
    }
    for (Throwable failure : failures) {
      if (failure instanceof TreeChanged changed) {
        throw changed;
      }
    }
    throwFirst(failures);
    return results;
  }

  /** The result of opening on another thread; an interrupt of this one stops that one, too. */
  static List<NodeConversation> await(Future<List<NodeConversation>> opening)
      throws InterruptedException, NodeLost {
    try {
      return opening.get();
    } catch (ExecutionException failed) {
      Throwable cause = failed.getCause() == null ? failed : failed.getCause();
      throwFirst(List.of(cause));
      throw new IllegalStateException(failed);
    } catch (InterruptedException stop) {
      opening.cancel(true);
      throw stop;
    }
  }

  private static Throwable lost(SyncNode node, ExecutionException failed) {
    Throwable cause = failed.getCause() == null ? failed : failed.getCause();
    return cause instanceof IOException ? new NodeLost(node.info().index(), cause) : cause;
  }

  /** What the user can act on goes before a lost conversation, which is perhaps its consequence. */
  private static void throwFirst(List<Throwable> failures) throws NodeLost {
    for (Throwable failure : failures) {
      if (!(failure instanceof NodeLost)) {
        throw Tasks.unchecked(failure);
      }
    }
    for (Throwable failure : failures) {
      if (failure instanceof NodeLost lost) {
        throw lost;
      }
    }
  }

  void drop(NodeConversation conversation) {
    open.remove(conversation.node());
    conversation.close();
  }

  boolean isOpen(NodeConversation conversation) {
    return open.get(conversation.node()) == conversation;
  }

  void known(Manifest manifest) {
    known = manifest;
  }

  Manifest known() {
    return known;
  }

  @Override
  public void close() {
    new HashSet<>(open.values()).forEach(this::drop);
  }
}
