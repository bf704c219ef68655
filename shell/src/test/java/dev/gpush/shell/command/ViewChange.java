package dev.gpush.shell.command;

import dev.gpush.core.session.NodeView;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A session view that differs in something from another. */
public final class ViewChange {
  private final SessionView view;

  public ViewChange(SessionView view) {
    this.view = view;
  }

  public SessionView view() {
    return view;
  }

  public ViewChange hardEnd(Optional<Duration> left) {
    return with(
        view.state(),
        view.detail(),
        left,
        view.idleLeft(),
        view.generation(),
        view.runsInProgress(),
        view.nodes());
  }

  public ViewChange idle(Duration left) {
    return with(
        view.state(),
        view.detail(),
        view.hardEndLeft(),
        Optional.of(left),
        view.generation(),
        view.runsInProgress(),
        view.nodes());
  }

  public ViewChange state(SessionState state, String detail) {
    return with(
        state,
        detail,
        view.hardEndLeft(),
        view.idleLeft(),
        view.generation(),
        view.runsInProgress(),
        view.nodes());
  }

  /** It has no nodes yet. */
  public ViewChange queued(String detail) {
    return with(
        SessionState.QUEUED,
        detail,
        Optional.empty(),
        Optional.empty(),
        Optional.of(0L),
        0,
        view.nodes());
  }

  public ViewChange generation(Optional<Long> generation) {
    return with(
        view.state(),
        view.detail(),
        view.hardEndLeft(),
        view.idleLeft(),
        generation,
        view.runsInProgress(),
        view.nodes());
  }

  public ViewChange runs(int runs) {
    return with(
        view.state(),
        view.detail(),
        view.hardEndLeft(),
        view.idleLeft(),
        view.generation(),
        runs,
        view.nodes());
  }

  /** Of nodes that have not said what they hold. */
  public ViewChange unknownGeneration() {
    List<NodeView> nodes =
        view.nodes().stream()
            .map(
                n ->
                    new NodeView(
                        n.info(),
                        n.link(),
                        Optional.empty(),
                        n.claimed(),
                        n.python(),
                        n.agentPid()))
            .toList();
    return with(
        view.state(),
        view.detail(),
        view.hardEndLeft(),
        view.idleLeft(),
        Optional.empty(),
        view.runsInProgress(),
        nodes);
  }

  /** Not granted yet: this is what it has asked for. */
  public ViewChange asking(int size) {
    return with(
        view.state(),
        view.detail(),
        view.needsLogin(),
        size,
        view.hardEndLeft(),
        view.idleLeft(),
        Optional.of(0L),
        view.runsInProgress(),
        List.of());
  }

  /** Somebody must log in there before its links come back. */
  public ViewChange needsLogin(String backend) {
    List<NodeView> nodes =
        view.nodes().stream()
            .map(
                n ->
                    new NodeView(
                        n.info(),
                        "needs you",
                        n.generation(),
                        n.claimed(),
                        n.python(),
                        n.agentPid()))
            .toList();
    return with(
        view.state(),
        view.detail(),
        Optional.of(backend),
        view.size(),
        view.hardEndLeft(),
        view.idleLeft(),
        view.generation(),
        view.runsInProgress(),
        nodes);
  }

  private ViewChange with(
      SessionState state,
      String detail,
      Optional<Duration> hard,
      Optional<Duration> idle,
      Optional<Long> generation,
      int runs,
      List<NodeView> nodes) {
    return with(state, detail, view.needsLogin(), view.size(), hard, idle, generation, runs, nodes);
  }

  private ViewChange with(
      SessionState state,
      String detail,
      Optional<String> needsLogin,
      int size,
      Optional<Duration> hard,
      Optional<Duration> idle,
      Optional<Long> generation,
      int runs,
      List<NodeView> nodes) {
    return new ViewChange(
        new SessionView(
            view.name(),
            view.id(),
            state,
            detail,
            needsLogin,
            view.backend(),
            view.gang(),
            size,
            view.gpus(),
            view.root(),
            view.owner(),
            view.created(),
            hard,
            idle,
            view.activity(),
            generation,
            runs,
            view.python(),
            nodes,
            view.isNew()));
  }
}
