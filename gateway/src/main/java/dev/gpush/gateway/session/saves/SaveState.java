package dev.gpush.gateway.session.saves;

import dev.gpush.core.session.Sessions.Came;
import dev.gpush.core.session.SyncView;
import dev.gpush.sync.WorkspaceSync.Looked;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/** What is known of a session's saves: written by the thread that sends them, read by any. */
final class SaveState {
  /** A caller that waits for pending saves looks again after this time in any case. */
  private static final Duration PENDING_PAUSE = Duration.ofMillis(500);

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Runnable listener;

  // guarded by lock
  private SyncView.Mode mode;
  private List<String> pending = List.of();
  private Map<String, String> left = Map.of();
  private Optional<String> held = Optional.of("not looked at yet");
  private Came came = Came.nothing();
  private long looks;
  private int watchers;
  private boolean isUnsure = true;
  private boolean isClosed;

  /**
   * @param listener called after each change of what users see
   */
  SaveState(SyncView.Mode mode, Runnable listener) {
    this.mode = mode;
    this.listener = listener;
  }

  /**
   * As it is at one moment.
   *
   * @param isSettled nothing is known that is not on the nodes
   */
  record Moment(
      SyncView.Mode mode, List<String> pending, List<SyncView.Held> held, boolean isSettled) {}

  Moment moment() {
    return locked(
        () -> {
          var why = new ArrayList<SyncView.Held>();
          held.ifPresent(text -> why.add(new SyncView.Held("", text)));
          new TreeMap<>(left).forEach((path, text) -> why.add(new SyncView.Held(path, text)));
          boolean isSettled = !isUnsure && why.isEmpty() && pending.isEmpty();
          return new Moment(mode, pending, why, isSettled);
        });
  }

  private <T> T locked(Supplier<T> work) {
    lock.lock();
    try {
      return work.get();
    } finally {
      lock.unlock();
    }
  }

  private void change(Runnable work) {
    boolean isNew;
    lock.lock();
    try {
      var before = List.of(moment(), came, watchers);
      work.run();
      changed.signalAll();
      isNew = !List.of(moment(), came, watchers).equals(before);
    } finally {
      lock.unlock();
    }
    if (isNew) {
      listener.run();
    }
  }

  SyncView.Mode mode() {
    return locked(() -> mode);
  }

  /** What is off stays off. */
  void mode(SyncView.Mode to) {
    change(() -> mode = mode == SyncView.Mode.OFF ? mode : to);
  }

  /** One more, or one less, who brings saves to the nodes itself. */
  void watchers(int more) {
    change(() -> watchers += more);
  }

  boolean isLeftToOthers() {
    return locked(() -> mode == SyncView.Mode.PAUSED || watchers > 0);
  }

  Set<String> leftPaths() {
    return locked(() -> Set.copyOf(left.keySet()));
  }

  /**
   * These came home from the editors' node.
   *
   * @param areSaid a command has named them to its user
   */
  void came(List<String> paths, boolean areSaid) {
    change(() -> came = came.and(paths, areSaid));
  }

  Came came() {
    return locked(() -> came);
  }

  /** Something has changed that was not looked at. */
  void unsure() {
    change(() -> isUnsure = true);
  }

  /**
   * Everything is on all nodes.
   *
   * @param why something does not come home; empty when nothing is known to fail
   */
  void sent(Map<String, String> exceptThese, Optional<String> why) {
    looked(List.of(), exceptThese, why, false);
  }

  /** It could not be looked at, or not be sent. */
  void hold(String why) {
    change(
        () -> {
          held = Optional.of(why);
          looks++;
        });
  }

  /**
   * What a look has found.
   *
   * @param why it is not sent; empty when it is
   */
  void looked(Looked found, Optional<String> why, boolean isOnItsWay) {
    looked(found.pending(), found.left(), why, isOnItsWay);
  }

  private void looked(
      List<String> paths,
      Map<String, String> exceptThese,
      Optional<String> why,
      boolean isOnItsWay) {
    change(
        () -> {
          pending = paths;
          left = exceptThese;
          held = why;
          isUnsure = isOnItsWay;
          looks += pending.isEmpty() ? 0 : 1;
        });
  }

  /** Waits until something is pending; false when it is closed or off. */
  boolean awaitPending(Duration limit) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long seen = looks;
      long remaining = (pending.isEmpty() ? limit : PENDING_PAUSE).toNanos();
      while (!isClosed && mode != SyncView.Mode.OFF && looks == seen && remaining > 0) {
        remaining = changed.awaitNanos(remaining);
      }
      return !isClosed && mode != SyncView.Mode.OFF;
    } finally {
      lock.unlock();
    }
  }

  void close() {
    change(() -> isClosed = true);
  }
}
