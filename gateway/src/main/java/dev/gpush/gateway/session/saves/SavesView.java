package dev.gpush.gateway.session.saves;

import dev.gpush.core.session.SyncView;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.DurationText;
import dev.gpush.sync.WorkspaceSync;
import dev.gpush.sync.watch.WorkspaceWatch;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Where the files of a session stand, for its users. Thread-safe. */
final class SavesView {
  private static final Duration SETTLE_PAUSE = Duration.ofMillis(5);

  private final SessionPort session;
  private final WorkspaceWatch watch;
  private final SaveState state;
  private final NodeGenerations generations;
  private final WorkspaceSync sync;
  private final Supplier<SyncView.Incoming> incoming;
  private final Clock clock;

  /**
   * @param incoming whether the editors' node has something that is not here yet
   */
  SavesView(
      SessionPort session,
      WorkspaceWatch watch,
      SaveState state,
      NodeGenerations generations,
      WorkspaceSync sync,
      Supplier<SyncView.Incoming> incoming,
      Clock clock) {
    this.session = session;
    this.watch = watch;
    this.state = state;
    this.generations = generations;
    this.sync = sync;
    this.incoming = incoming;
    this.clock = clock;
  }

  /** As {@link #now()}, after a moment in which a save that is on its way may arrive. */
  SyncView after(Duration moment) {
    long end = clock.nanos() + moment.toNanos();
    SyncView now = now();
    try {
      while (now.mode() == SyncView.Mode.LIVE
          && !now.isSynced()
          && now.held().isEmpty()
          && now.versions().held().isEmpty()
          && watch.lacking().isEmpty()
          && clock.nanos() - end < 0) {
        Thread.sleep(SETTLE_PAUSE);
        now = now();
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
    return now;
  }

  SyncView now() {
    boolean isCalm = watch.isCalm() && watch.lacking().isEmpty();
    Optional<String> closed = session.closed();
    SaveState.Moment moment = state.moment();
    boolean isOff = moment.mode() == SyncView.Mode.OFF;
    List<SyncView.Node> views = generations.views();
    var versions = new SyncView.Versions(sync.last().held(), sync.last().trashes());
    SyncView.Incoming coming = incoming.get();
    return new SyncView(
        moment.mode(),
        moment.mode() == SyncView.Mode.LIVE
            && isCalm
            && closed.isEmpty()
            && moment.isSettled()
            && coming == SyncView.Incoming.NONE
            && versions.held().isEmpty()
            && generations.areEqual(),
        views.stream().flatMap(node -> node.generation().stream()).max(Long::compare),
        views,
        sync.editNode(),
        moment.pending(),
        generations.isHeard(sync.editNode()) ? coming : SyncView.Incoming.NONE,
        isOff ? List.of() : closed.or(() -> cut(moment)).map(SavesView::all).orElse(moment.held()),
        sync.home().staying().entrySet().stream()
            .map(each -> new SyncView.Held(each.getKey(), each.getValue()))
            .toList(),
        isOff ? watch.lacking().orElse("") : watching(),
        versions,
        "");
  }

  /** The link to a node is cut, which nothing that is held says. */
  private Optional<String> cut(SaveState.Moment moment) {
    List<Integer> away = generations.away();
    return away.isEmpty() || !moment.held().isEmpty()
        ? Optional.empty()
        : Optional.of(
            "the link to node " + away.getFirst() + " is cut, and what it has may differ by now");
  }

  private static List<SyncView.Held> all(String why) {
    return List.of(new SyncView.Held("", why));
  }

  private String watching() {
    String slow = sync.there().slow();
    Optional<String> lacking = watch.lacking();
    if (lacking.isPresent()) {
      return "looks every " + DurationText.of(watch.delay()) + ", because " + lacking.get();
    }
    return slow.isEmpty()
        ? ""
        : "node " + sync.editNode() + " looks at its files every few seconds, because " + slow;
  }
}
