package dev.gpush.sync;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.sync.delta.Signatures;
import dev.gpush.sync.home.NodeWatch;
import dev.gpush.sync.node.NodeConversation;
import dev.gpush.sync.node.NodeHolds;
import dev.gpush.sync.node.SyncNode;
import dev.gpush.sync.node.SyncPlan;
import dev.gpush.sync.pace.NodeStep;
import dev.gpush.sync.pace.SlowNodes;
import dev.gpush.sync.tree.Generation;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.tree.TreeChanged;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The conversations that are kept open between pushes, one per node, and work on all of them at
 * once. Guarded by the lock of {@link WorkspaceSync}.
 */
final class Conversations implements AutoCloseable {
  private final int editNode;
  private final Duration rewrite;
  private final Signatures signatures = new Signatures();
  private final SlowNodes slow;
  private final Tasks tasks;

  /** Told of changes on the editors' node. */
  private final NodeWatch watch = new NodeWatch();

  /** Of a push that gives more, such as the first one or a checkout, nothing is remembered. */
  private static final int MOST_GIVEN = 1_000;

  /** When the editors' node was given these paths. */
  private final Map<String, Long> given = new HashMap<>();

  private final Map<SyncNode, NodeConversation> open = new ConcurrentHashMap<>();

  /** Why work without a user waits no longer for these nodes, by their numbers. */
  private final Map<Integer, String> givenUp = new ConcurrentHashMap<>();

  /** The last that were opened. {@link #cut} reads it on any thread. */
  private volatile Optional<OpeningConversations> opening = Optional.empty();

  /** The manifest written last: nodes that still hold it need not send theirs. */
  private volatile Manifest known = Manifest.empty();

  /**
   * @param editNode the node where people edit
   * @param rewrite a program there that reads a file, such as a formatter, writes it again within
   *     this time, perhaps without what it was given meanwhile
   */
  Conversations(int editNode, Duration rewrite, SlowNodes slow, Tasks tasks) {
    this.editNode = editNode;
    this.rewrite = rewrite;
    this.slow = slow;
    this.tasks = tasks;
  }

  /** The node where people edit. */
  int editNode() {
    return editNode;
  }

  boolean isOfEditors(NodeConversation node) {
    return node.index() == editNode;
  }

  /**
   * A node has done this, or perhaps only a part of it.
   *
   * @param hadBefore paths that the editors' node had so before
   */
  void gave(NodeConversation node, SyncPlan plan, Predicate<String> hadBefore) {
    Set<String> paths = plan.writes().keySet();
    if (!isOfEditors(node) || paths.size() > MOST_GIVEN) {
      return;
    }
    long now = Clock.system().nanos();
    given.values().removeIf(at -> now - at > rewrite.toNanos());
    paths.stream().filter(hadBefore.negate()).forEach(path -> given.put(path, now));
  }

  /** Whether what is edited there may lack what it was given. */
  boolean hasJustGiven(String path) {
    return given.containsKey(path) && Clock.system().nanos() - given.get(path) < rewrite.toNanos();
  }

  /** What is here now is what was edited there. */
  void cameHome(List<String> paths) {
    paths.forEach(given::remove);
  }

  /** Of what was sent to the nodes. */
  Signatures signatures() {
    return signatures;
  }

  /** Something to do with one node. */
  @FunctionalInterface
  interface NodeWork<T> {
    T on(NodeConversation node) throws IOException, InterruptedException, TreeChanged;
  }

  /** Starts opening those that are not open. It must be finished or abandoned. */
  OpeningConversations open(List<SyncNode> nodes) {
    List<SyncNode> closed = nodes.stream().filter(node -> !open.containsKey(node)).toList();
    var begun = beside(closed);
    opening = Optional.of(begun);
    return begun;
  }

  /** Opens others, which are not for this operation; on any thread. */
  OpeningConversations beside(List<SyncNode> nodes) {
    return new OpeningConversations(nodes, known, slow, tasks);
  }

  /** Takes one that was opened {@link #beside} the others. */
  void join(NodeConversation conversation) {
    if (open.putIfAbsent(conversation.node(), conversation) != null) {
      conversation.close();
    } else if (isOfEditors(conversation)) {
      watch(conversation);
    }
  }

  /** Until it is closed, nodes that are slow are given up: what they do fails. */
  SlowNodes.Watch givingUpSlow(List<SyncNode> nodes) {
    SlowNodes.Watch watch = slow.watch(found -> found.forEach(each -> giveUp(each, nodes)));
    return () -> {
      watch.close();
      givenUp.clear();
    };
  }

  private void giveUp(NodeStep.Slow found, List<SyncNode> nodes) {
    if (givenUp.putIfAbsent(found.node(), found.why()) == null) {
      slow.givenUp(found.node());
    }
    nodes.stream().filter(node -> node.info().index() == found.node()).forEach(this::cut);
  }

  /** Waits until all are open, and returns those that were opened: what they hold is new. */
  List<NodeConversation> finish(OpeningConversations opening)
      throws InterruptedException, NodeFailed {
    List<Exception> failures;
    opening.awaited(slow);
    try {
      failures = opening.await();
    } catch (InterruptedException stop) {
      abandon(opening);
      throw stop;
    }
    List<NodeConversation> fresh = keep(opening);
    throwFirst(failures);
    return fresh;
  }

  /**
   * Opens those that are not open, without a user: it waits for no node whose link is cut, before
   * or meanwhile.
   */
  List<NodeConversation> openReachable(List<SyncNode> nodes)
      throws InterruptedException, NodeFailed {
    OpeningConversations begun = open(nodes);
    try {
      // Only now: cut() ends what is opening when a link is cut from here on.
      requireReachable(nodes);
    } catch (NodeFailed unreachable) {
      abandon(begun);
      throw unreachable;
    }
    return finish(begun);
  }

  /** As {@link WorkspaceSync#learn}. */
  Optional<Generation> learn(List<SyncNode> nodes) throws InterruptedException, NodeFailed {
    if (known.size() > 0 || !nodes.stream().allMatch(SyncNode::isReachable)) {
      return Optional.empty();
    }
    openReachable(nodes);
    List<NodeHolds> held = of(nodes).stream().map(NodeConversation::holds).toList();
    Generation first = held.getFirst().generation();
    if (first.counter() == 0 || held.stream().anyMatch(each -> !each.generation().equals(first))) {
      return Optional.empty();
    }
    known = held.getFirst().manifest();
    return Optional.of(first);
  }

  /** The newest number of a generation that one of them holds. */
  static long newest(List<NodeConversation> nodes) {
    return nodes.stream().mapToLong(node -> node.holds().generation().counter()).max().orElse(0);
  }

  static void requireReachable(List<SyncNode> nodes) throws NodeFailed {
    for (SyncNode node : nodes) {
      if (!node.isReachable()) {
        int index = node.info().index();
        throw NodeFailed.of(
            index, new GpushException(new AgentFailure.LinkOver(index, "its link is cut")));
      }
    }
  }

  /** They are not needed now; those that are open already are kept for the next push. */
  void abandon(OpeningConversations opening) {
    opening.abandon();
    keep(opening);
  }

  private List<NodeConversation> keep(OpeningConversations opening) {
    List<NodeConversation> fresh = opening.arrived();
    fresh.forEach(conversation -> open.put(conversation.node(), conversation));
    fresh.stream().filter(this::isOfEditors).forEach(this::watch);
    return fresh;
  }

  private void watch(NodeConversation conversation) {
    if (watch.isWanted()) {
      try {
        conversation.watch(tasks, watch);
      } catch (IOException broken) {
        // The next question finds it broken.
      }
    }
  }

  NodeWatch watch() {
    return watch;
  }

  /** The open conversations with these nodes, in their order. */
  List<NodeConversation> of(List<SyncNode> nodes) {
    return nodes.stream().map(node -> Objects.requireNonNull(open.get(node))).toList();
  }

  /** Asks those of them that are open what they hold; {@link #look} waits for the answers. */
  void ask(List<SyncNode> nodes, boolean forNames)
      throws InterruptedException, NodeFailed, TreeChanged {
    List<NodeConversation> there = nodes.stream().map(open::get).filter(Objects::nonNull).toList();
    each(
        "ask",
        there,
        node -> {
          node.ask(forNames && isOfEditors(node));
          return true;
        });
  }

  /** Has them look at these paths. */
  void check(List<NodeConversation> nodes, Set<String> paths)
      throws InterruptedException, NodeFailed, TreeChanged {
    each(
        "check",
        nodes,
        node -> {
          node.check(paths);
          return true;
        });
  }

  /** Has them look at every path, and the editors' node perhaps for new names. */
  void look(List<NodeConversation> nodes, boolean forNames)
      throws InterruptedException, NodeFailed, TreeChanged {
    each(
        "check",
        nodes,
        node -> {
          node.look(forNames && isOfEditors(node));
          return true;
        });
  }

  /** Ends those with an answer on its way, for which nobody has waited. */
  void dropAsked() {
    List.copyOf(open.values()).stream().filter(NodeConversation::isAsked).forEach(this::drop);
  }

  /** Forgets the nodes that are not among these. */
  void retain(List<SyncNode> nodes) {
    List.copyOf(open.values()).stream()
        .filter(conversation -> !nodes.contains(conversation.node()))
        .forEach(this::drop);
  }

  /** The result of the work on one node. */
  private sealed interface Attempt<T> {
    record Done<T>(T result) implements Attempt<T> {}

    record Failed<T>(Exception cause) implements Attempt<T> {}
  }

  /**
   * Does it on all at once and waits for all; then the first failure is thrown. A conversation that
   * broke is dropped.
   */
  <T> List<T> each(String what, List<NodeConversation> nodes, NodeWork<T> work)
      throws InterruptedException, NodeFailed, TreeChanged {
    NodeStep step =
        slow.begin(
            nodes.size(),
            nodes.stream()
                .collect(Collectors.toMap(NodeConversation::index, NodeConversation::waiting)));
    List<Work<Attempt<T>, RuntimeException>> attempts =
        nodes.stream()
            .<Work<Attempt<T>, RuntimeException>>map(node -> () -> attempt(node, work, step))
            .toList();
    // Interrupted in the middle, a conversation cannot be used any longer.
    List<Attempt<T>> ended = tasks.all(what, attempts, () -> nodes.forEach(this::drop));
    var results = new ArrayList<T>();
    var failures = new ArrayList<Exception>();
    for (int i = 0; i < nodes.size(); i++) {
      switch (ended.get(i)) {
        case Attempt.Done<T>(var result) -> results.add(result);
        case Attempt.Failed<T>(var cause) -> {
          if (cause instanceof NodeFailed || isOutOfStep(cause)) {
            drop(nodes.get(i));
          }
          failures.add(cause);
        }
      }
    }
    for (Exception failure : failures) {
      if (failure instanceof TreeChanged changed) {
        throw changed;
      }
    }
    throwFirst(failures);
    return results;
  }

  /**
   * Whether questions and answers no longer belong together, which only a new conversation ends.
   */
  private static boolean isOutOfStep(Exception cause) {
    return cause instanceof GpushException failed
        && failed.failure() instanceof AgentFailure.NotUnderstood;
  }

  private static <T> Attempt<T> attempt(NodeConversation node, NodeWork<T> work, NodeStep step)
      throws InterruptedException {
    try {
      return new Attempt.Done<>(work.on(node));
    } catch (IOException broken) {
      return new Attempt.Failed<>(NodeFailed.lost(node.index(), broken));
    } catch (TreeChanged | RuntimeException failed) {
      return new Attempt.Failed<>(failed);
    } finally {
      step.done(node.index());
    }
  }

  /**
   * A failure that the user can act on comes before a lost conversation, which may be its
   * consequence.
   */
  void throwFirst(List<Exception> failures) throws NodeFailed {
    for (Exception failure : failures) {
      if (failure instanceof RuntimeException first) {
        throw first;
      }
    }
    for (Exception failure : failures) {
      if (failure instanceof NodeFailed lost) {
        String why = givenUp.getOrDefault(lost.node(), "");
        throw why.isEmpty() ? lost : lost.because(why);
      }
    }
  }

  void drop(NodeConversation conversation) {
    open.remove(conversation.node());
    conversation.close();
  }

  /**
   * Ends the conversation with a node, on any thread, also one that is being opened: work that
   * waits for an answer of it fails with {@link NodeFailed}.
   */
  void cut(SyncNode node) {
    // First: what has arrived is put among the open ones before it is forgotten here.
    opening.ifPresent(begun -> begun.cut(node));
    NodeConversation conversation = open.get(node);
    if (conversation != null) {
      conversation.close();
    }
  }

  /** Those that are open, by the numbers of their nodes. */
  List<NodeConversation> all() {
    return open.values().stream().sorted(Comparator.comparingInt(NodeConversation::index)).toList();
  }

  boolean isOpen(NodeConversation conversation) {
    return open.get(conversation.node()) == conversation;
  }

  Manifest known() {
    return known;
  }

  void known(Manifest manifest) {
    known = manifest;
  }

  @Override
  public void close() {
    new HashSet<>(open.values()).forEach(this::drop);
  }
}
