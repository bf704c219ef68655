package dev.gpush.sync;

import dev.gpush.core.failure.GpushException;
import dev.gpush.sync.node.Bases;
import dev.gpush.sync.node.Blobs;
import dev.gpush.sync.node.NodeConversation;
import dev.gpush.sync.node.SyncNode;
import dev.gpush.sync.node.SyncPlan;
import dev.gpush.sync.tree.Contents;
import dev.gpush.sync.tree.Scan;
import dev.gpush.sync.tree.TreeChanged;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;

/**
 * Nodes for which a save did not wait get the contents that they lack beside other work, each at
 * its pace. Nothing is committed here: only a push moves a node, so that no rank starts on a
 * mixture. Thread-safe.
 */
final class CatchUps {
  /** The tree may change meanwhile; a push sends the rest. */
  private static final int MOST_SENDS = 5;

  private final Conversations conversations;
  private final Lock lock;
  private final Supplier<Scan> looked;

  // begin and stop guarded by this: stop sees each that has begun
  private final Map<SyncNode, OpeningConversations> running = new ConcurrentHashMap<>();

  /**
   * What a node lacks.
   *
   * @param contents of all that the plan needs
   */
  private record Missing(SyncPlan plan, Contents contents) {}

  /**
   * @param lock of the other work
   * @param looked the tree as it was looked at last, under the lock
   */
  CatchUps(Conversations conversations, Lock lock, Supplier<Scan> looked) {
    this.conversations = conversations;
    this.lock = lock;
    this.looked = looked;
  }

  /** Returns when the node has answered and has what it lacked, or when it was stopped. */
  void run(SyncNode node) throws InterruptedException, NodeFailed {
    OpeningConversations opening = begin(node);
    boolean isJoined = false;
    try {
      conversations.throwFirst(opening.await());
      NodeConversation conversation = opening.arrived().getFirst();
      int sends = 0;
      while (sends < MOST_SENDS && send(conversation, sends > 0)) {
        sends++;
      }
      isJoined = locked(() -> isJoined(conversation, opening));
    } catch (IOException broken) {
      failUnlessStopped(NodeFailed.lost(node.info().index(), broken), node);
    } catch (NodeFailed failed) {
      failUnlessStopped(failed, node);
    } catch (GpushException failed) {
      failUnlessStopped(NodeFailed.of(node.info().index(), failed), node);
    } finally {
      running.remove(node, opening);
      if (!isJoined) {
        opening.abandon();
        opening.cut(node);
      }
    }
  }

  private synchronized OpeningConversations begin(SyncNode node) {
    OpeningConversations opening = conversations.beside(List.of(node));
    running.put(node, opening);
    return opening;
  }

  private void failUnlessStopped(NodeFailed failed, SyncNode node) throws NodeFailed {
    if (running.containsKey(node)) {
      throw failed;
    }
  }

  private <T> T locked(Supplier<T> work) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      return work.get();
    } finally {
      lock.unlock();
    }
  }

  private boolean isJoined(NodeConversation conversation, OpeningConversations opening) {
    boolean isWanted = running.remove(conversation.node(), opening);
    if (isWanted) {
      conversations.join(conversation);
    }
    return isWanted;
  }

  private Missing missing(NodeConversation node) {
    Scan found = looked.get();
    SyncPlan plan = SyncPlan.plan(found.manifest(), node.holds(), Set.of(), Set.of());
    var places = new HashMap<String, Optional<Path>>();
    plan.blobs().forEach(hash -> places.put(hash, found.contents().of(hash)));
    return new Missing(plan, hash -> places.getOrDefault(hash, Optional.empty()));
  }

  /** Whether there was something to send. */
  private boolean send(NodeConversation node, boolean isAgain)
      throws IOException, InterruptedException {
    Missing missing = locked(() -> missing(node));
    List<String> needed = missing.plan().blobs().stream().sorted().toList();
    if (needed.isEmpty()) {
      return false;
    }
    try (var blobs =
        new Blobs(
            missing.contents(),
            Map.of(),
            !node.node().isHere(),
            Bases.of(Map.of(node, missing.plan())),
            conversations.signatures())) {
      node.stageAhead(needed, blobs, isAgain);
    } catch (TreeChanged changed) {
      // The next look at the tree finds out what it is now.
    }
    return true;
  }

  /** A push takes these nodes itself. */
  void stop(Collection<SyncNode> nodes) {
    var stopped = new HashMap<SyncNode, OpeningConversations>();
    synchronized (this) {
      for (SyncNode node : nodes) {
        Optional.ofNullable(running.remove(node)).ifPresent(opening -> stopped.put(node, opening));
      }
    }
    stopped.forEach((node, opening) -> opening.cut(node));
  }
}
