package dev.gpush.gateway.session.saves;

import dev.gpush.core.session.SyncView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What each node holds, and which are left out of pushes for a while. Thread-safe. */
public final class NodeStandings {
  private static final Duration FIRST = Duration.ofSeconds(1);
  private static final Duration MOST = Duration.ofSeconds(30);

  // guarded by this
  private final List<Node> nodes = new ArrayList<>();

  /** One node. */
  private static final class Node {
    private Optional<Long> generation = Optional.empty();
    private String behind = "";
    private Duration pause = Duration.ZERO;
    private long triedAt;
  }

  public NodeStandings(int count) {
    for (int i = 0; i < count; i++) {
      nodes.add(new Node());
    }
  }

  /** All of these have it now. */
  public synchronized void hold(Iterable<Integer> indexes, long generation) {
    for (int index : indexes) {
      Node node = nodes.get(index);
      node.generation = Optional.of(generation);
      node.behind = "";
      node.pause = Duration.ZERO;
    }
  }

  /** The node is left out until its time has come, or it is {@link #expect}ed. */
  synchronized void leaveOut(int index, String why, long now) {
    Node node = nodes.get(index);
    Duration longer = node.pause.multipliedBy(2);
    node.behind = why;
    node.pause = longer.compareTo(FIRST) < 0 ? FIRST : longer.compareTo(MOST) > 0 ? MOST : longer;
    node.triedAt = now;
  }

  /** Something has changed for the better: it is tried with the next push. */
  synchronized void expect(int index) {
    nodes.get(index).pause = Duration.ZERO;
  }

  /** It is not known any longer what the node holds, as after its agent was replaced. */
  public synchronized void forget(int index) {
    nodes.get(index).generation = Optional.empty();
  }

  /** Those that take part in a push now. */
  synchronized List<Integer> present(long now) {
    var present = new ArrayList<Integer>();
    for (int i = 0; i < nodes.size(); i++) {
      Node node = nodes.get(i);
      if (node.behind.isEmpty() || now - node.triedAt >= node.pause.toNanos()) {
        present.add(i);
      }
    }
    return present;
  }

  /** All hold one generation, and none is left out. */
  synchronized boolean areEqual() {
    return common().isPresent() && nodes.stream().allMatch(node -> node.behind.isEmpty());
  }

  /** When the next one that is left out is tried again. */
  synchronized Optional<Duration> next(long now) {
    return nodes.stream()
        .filter(node -> !node.behind.isEmpty())
        .map(node -> node.pause.minusNanos(now - node.triedAt))
        .map(left -> left.isNegative() ? Duration.ZERO : left)
        .min(Duration::compareTo);
  }

  public synchronized Optional<Long> generation(int index) {
    return index < nodes.size() ? nodes.get(index).generation : Optional.empty();
  }

  /** The one that all hold; empty when they differ. */
  public synchronized Optional<Long> common() {
    Optional<Long> first = nodes.getFirst().generation;
    return nodes.stream().allMatch(node -> node.generation.equals(first))
        ? first
        : Optional.empty();
  }

  synchronized List<SyncView.Node> views() {
    var views = new ArrayList<SyncView.Node>();
    for (int i = 0; i < nodes.size(); i++) {
      Node node = nodes.get(i);
      views.add(new SyncView.Node(i, node.generation, node.behind));
    }
    return views;
  }
}
