package dev.gpush.gateway.session.saves;

import dev.gpush.core.session.SyncView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** What each node holds, and which are left out of pushes for a while. Thread-safe. */
public final class NodeGenerations {
  private static final Duration FIRST = Duration.ofSeconds(1);

  /** While there are new saves. */
  private static final Duration MOST_WITH_SAVES = Duration.ofSeconds(30);

  // guarded by this: nodes, forgets
  private final List<Node> nodes = new ArrayList<>();
  private long forgets;

  /** One node. */
  private static final class Node {
    /** 0: its disk was found empty. Empty: it is not known. */
    private Optional<Long> generation = Optional.empty();

    private String behind = "";
    private long forgotten;
    private Backoff backoff = Backoff.none();
    private boolean isAway;

    /** It is slow, and has not caught up: no push of a save takes it along. */
    private boolean isAside;

    boolean isEmpty() {
      return generation.equals(Optional.of(0L));
    }
  }

  public NodeGenerations(int count) {
    for (int i = 0; i < count; i++) {
      nodes.add(new Node());
    }
  }

  /** Their numbers. */
  List<Integer> all() {
    return IntStream.range(0, nodes.size()).boxed().toList();
  }

  /** The moment, for {@link #hold}. */
  public synchronized long moment() {
    return forgets;
  }

  /**
   * These have it now, but for those that were forgotten meanwhile: another agent has come since.
   *
   * @param begun the moment before it was sent
   */
  public synchronized void hold(Iterable<Integer> indexes, long generation, long begun) {
    for (int index : indexes) {
      Node node = nodes.get(index);
      if (node.forgotten <= begun) {
        node.generation = Optional.of(generation);
        node.behind = "";
        node.backoff = Backoff.none();
        node.isAside = false;
      }
    }
  }

  /** The node is left out until its time has come, or it is {@link #expect}ed. */
  synchronized void leaveOut(int index, String why, long now) {
    Node node = nodes.get(index);
    node.behind = why;
    node.backoff = node.backoff.failed(FIRST, now);
    node.isAside = false;
  }

  /** As {@link #leaveOut}, and not before it has {@link #caughtUp}. */
  synchronized void setAside(int index, String why, long now) {
    leaveOut(index, why, now);
    nodes.get(index).isAside = true;
  }

  synchronized void caughtUp(int index) {
    nodes.get(index).isAside = false;
  }

  /** There is a new save: none is left out for long. */
  synchronized void saved() {
    nodes.forEach(node -> node.backoff = node.backoff.atMost(MOST_WITH_SAVES));
  }

  /** Something has changed for the better: it is tried with the next push. */
  synchronized void expect(int index) {
    nodes.get(index).backoff = Backoff.none();
  }

  /**
   * Its agent was replaced: what it holds is not known any longer.
   *
   * @param isEmpty but for this: it has nothing, until it is filled
   */
  public synchronized void replaced(int index, boolean isEmpty) {
    Node node = nodes.get(index);
    node.generation = isEmpty || node.isEmpty() ? Optional.of(0L) : Optional.empty();
    node.forgotten = ++forgets;
  }

  /** Its files are gone. */
  public synchronized boolean isEmpty(int index) {
    return nodes.get(index).isEmpty();
  }

  public synchronized boolean isAnyEmpty() {
    return nodes.stream().anyMatch(Node::isEmpty);
  }

  /** Those that take part in a push now. */
  synchronized List<Integer> present(long now) {
    var present = new ArrayList<Integer>();
    for (int i = 0; i < nodes.size(); i++) {
      Node node = nodes.get(i);
      if (node.behind.isEmpty() || (!node.isAside && node.backoff.isOver(now))) {
        present.add(i);
      }
    }
    return present;
  }

  /** Its link is cut: what it holds may change unseen. */
  synchronized void away(int index, boolean isAway) {
    nodes.get(index).isAway = isAway;
  }

  /** Whether what the node says of itself arrives: it is neither left out nor cut off. */
  synchronized boolean isHeard(int index) {
    Node node = nodes.get(index);
    return node.behind.isEmpty() && !node.isAway;
  }

  synchronized List<Integer> away() {
    return IntStream.range(0, nodes.size())
        .filter(index -> nodes.get(index).isAway)
        .boxed()
        .toList();
  }

  /** All hold one generation, this is certain, and none is left out. */
  synchronized boolean areEqual() {
    return common().isPresent()
        && nodes.stream().allMatch(node -> node.behind.isEmpty() && !node.isAway);
  }

  /** A push would bring one of them further, or may. */
  synchronized boolean areWanting(long now) {
    List<Node> present = present(now).stream().map(nodes::get).toList();
    return present.stream()
            .anyMatch(node -> !node.behind.isEmpty() || node.generation.orElse(0L) == 0)
        || present.stream().map(node -> node.generation).distinct().count() > 1;
  }

  /** When the next one that is left out is tried again. */
  synchronized Optional<Duration> next(long now) {
    return nodes.stream()
        .filter(node -> !node.behind.isEmpty() && !node.isAside)
        .map(node -> node.backoff.left(now))
        .min(Duration::compareTo);
  }

  public synchronized Optional<Long> generation(int index) {
    return index < nodes.size() ? nodes.get(index).generation : Optional.empty();
  }

  /** The one that all hold; empty when they differ. */
  public Optional<Long> common() {
    return common(all());
  }

  /** The one that all of these hold; empty when they differ. */
  synchronized Optional<Long> common(List<Integer> indexes) {
    List<Optional<Long>> held =
        indexes.stream().map(index -> nodes.get(index).generation).distinct().toList();
    return held.size() == 1 ? held.getFirst().filter(has -> has > 0) : Optional.empty();
  }

  synchronized List<SyncView.Node> views() {
    var views = new ArrayList<SyncView.Node>();
    for (int i = 0; i < nodes.size(); i++) {
      Node node = nodes.get(i);
      views.add(new SyncView.Node(i, node.generation.filter(has -> has > 0), node.behind));
    }
    return views;
  }
}
