package dev.gpush.shell.command;

import dev.gpush.core.session.NodeView;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.SessionView.Cost;
import dev.gpush.core.session.SessionView.Lease;
import dev.gpush.core.session.SessionView.Place;
import dev.gpush.core.session.SessionView.Status;
import dev.gpush.core.session.SessionView.Work;
import dev.gpush.core.session.SyncView;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

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
    return with(lease(left, view.idleLeft()));
  }

  public ViewChange idle(Duration left) {
    return with(lease(view.hardEndLeft(), Optional.of(left)));
  }

  public ViewChange state(SessionState state, String detail) {
    Status now = view.status();
    return with(new Status(state, detail, now.needsLogin(), now.isStarting(), now.trace()));
  }

  /** Its start goes on. */
  public ViewChange starting() {
    Status now = view.status();
    return with(new Status(now.state(), now.detail(), now.needsLogin(), true, now.trace()));
  }

  /** It waits for nodes. */
  public ViewChange queued(String detail) {
    return state(SessionState.QUEUED, detail)
        .with(lease(Optional.empty(), Optional.empty()))
        .with(new Work(view.nodes(), Optional.of(0L), 0, view.work().python()));
  }

  public ViewChange generation(Optional<Long> generation) {
    return with(new Work(view.nodes(), generation, view.runsInProgress(), view.work().python()));
  }

  public ViewChange warm(List<SessionView.WarmInterpreter> warm) {
    return with(
        new Work(
            view.nodes(),
            view.generation(),
            view.runsInProgress(),
            view.work().python(),
            warm,
            view.sync()));
  }

  /** Saves are sent by themselves, and stand like this. */
  public ViewChange sync(SyncView sync) {
    return with(
        new Work(
            view.nodes(),
            view.generation(),
            view.runsInProgress(),
            view.work().python(),
            view.work().warm(),
            sync));
  }

  public ViewChange runs(int runs) {
    return with(new Work(view.nodes(), view.generation(), runs, view.work().python()));
  }

  /** Of nodes that have not said what they hold. */
  public ViewChange unknownGeneration() {
    return nodes(
            n ->
                new NodeView(
                    n.info(), n.link(), Optional.empty(), n.claimed(), n.python(), n.agentPid()))
        .generation(Optional.empty());
  }

  /** Not granted yet: this is what it has asked for. */
  public ViewChange asking(int size) {
    return with(new Place(view.backend(), view.place().gang(), size, view.gpus(), Optional.empty()))
        .with(new Work(List.of(), Optional.of(0L), view.runsInProgress(), view.work().python()));
  }

  /** On another backend. */
  public ViewChange on(String backend) {
    return with(
        new Place(backend, view.place().gang(), view.size(), view.gpus(), Optional.empty()));
  }

  public ViewChange costs(double hour, Duration held) {
    Place now = view.place();
    var cost = Optional.of(new Cost(hour, held));
    return with(new Place(now.backend(), now.gang(), now.size(), now.gpus(), cost));
  }

  /** Its links come back after a login there. */
  public ViewChange needsLogin(String backend) {
    return nodes(
            n ->
                new NodeView(
                    n.info(), "needs you", n.generation(), n.claimed(), n.python(), n.agentPid()))
        .with(
            new Status(
                view.state(),
                view.detail(),
                Optional.of(backend),
                view.status().isStarting(),
                view.trace()));
  }

  private ViewChange nodes(UnaryOperator<NodeView> change) {
    List<NodeView> nodes = view.nodes().stream().map(change).toList();
    return with(new Work(nodes, view.generation(), view.runsInProgress(), view.work().python()));
  }

  public ViewChange with(Status status) {
    return new ViewChange(
        new SessionView(
            view.identity(), status, view.place(), view.lease(), view.work(), view.isNew()));
  }

  private ViewChange with(Place place) {
    return new ViewChange(
        new SessionView(
            view.identity(), view.status(), place, view.lease(), view.work(), view.isNew()));
  }

  private Lease lease(Optional<Duration> hardEndLeft, Optional<Duration> idleLeft) {
    Lease now = view.lease();
    return new Lease(hardEndLeft, idleLeft, now.activity(), now.warnings());
  }

  public ViewChange with(Lease lease) {
    return new ViewChange(
        new SessionView(
            view.identity(), view.status(), view.place(), lease, view.work(), view.isNew()));
  }

  public ViewChange with(Work work) {
    return new ViewChange(
        new SessionView(
            view.identity(), view.status(), view.place(), view.lease(), work, view.isNew()));
  }
}
