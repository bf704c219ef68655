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
        SessionState.QUEUED, detail, Optional.empty(), Optional.empty(), 0, 0, view.nodes());
  }

  public ViewChange generation(long generation) {
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

  public ViewChange link(String link) {
    List<NodeView> nodes =
        view.nodes().stream()
            .map(
                n ->
                    new NodeView(
                        n.info(), link, n.generation(), n.claimed(), n.python(), n.agentPid()))
            .toList();
    return with(
        view.state(),
        view.detail(),
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
      long generation,
      int runs,
      List<NodeView> nodes) {
    return new ViewChange(
        new SessionView(
            view.name(),
            view.id(),
            state,
            detail,
            view.backend(),
            view.gang(),
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
