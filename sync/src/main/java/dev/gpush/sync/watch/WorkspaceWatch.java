package dev.gpush.sync.watch;

import dev.gpush.core.task.Clock;
import dev.gpush.sync.scan.FolderListener;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Waits for saves in a working tree. A save is not one event: editors write beside a file and
 * rename, empty a file and fill it, keep a copy; git writes thousands of files. So a change is
 * reported when nothing further happened for a moment, which is longer after many changes, and not
 * while git is at work. {@link #next} is for one thread; the rest is thread-safe.
 */
public final class WorkspaceWatch implements FolderListener, AutoCloseable {
  /** Looking at everything takes at most this part of the time where changes are not reported. */
  private static final int SCAN_SHARE = 20;

  private static final Duration GIT_PAUSE = Duration.ofMillis(10);

  private final Path root;
  private final TreeWatcher watcher;
  private final WatchTiming timing;
  private final Clock clock;
  private final GitAtWork git;

  private final Set<Path> folders = new HashSet<>();
  private final Map<Path, Map<String, Long>> open = new HashMap<>();
  private boolean everything;
  private int events;
  private long firstAt;
  private long lastAt;
  private final SafetyLooks safety;

  // guarded by this
  private long scannedAt;
  private Duration scanTook = Duration.ZERO;

  public WorkspaceWatch(Path root, TreeWatcher watcher, WatchTiming timing, Clock clock) {
    this.root = root;
    this.watcher = watcher;
    this.timing = timing;
    this.clock = clock;
    this.git = new GitAtWork(root, timing);
    this.scannedAt = clock.nanos();
    this.safety = new SafetyLooks(timing.check(), scannedAt);
  }

  @Override
  public void entering(Path folder) {
    watcher.watch(folder);
  }

  @Override
  public void listed(Path folder, Predicate<String> isIgnored) {
    watcher.ignore(folder, isIgnored);
  }

  @Override
  public void left(Path folder) {
    watcher.forget(folder);
  }

  /** As {@link TreeWatcher#lacking}. */
  public Optional<String> lacking() {
    return watcher.lacking();
  }

  /** How late a change may be noticed where it is not reported. */
  public synchronized Duration delay() {
    Duration share = scanTook.multipliedBy(SCAN_SHARE);
    return share.compareTo(timing.scan()) > 0 ? share : timing.scan();
  }

  /**
   * This was looked at just now, by the thread of {@link #next}.
   *
   * @param folders empty: everything
   */
  public void looked(Optional<Set<Path>> folders, Duration took) {
    if (folders.isPresent()) {
      safety.looked(took, clock.nanos());
      return;
    }
    safety.lookedAtAll(clock.nanos());
    synchronized (this) {
      scannedAt = clock.nanos();
      scanTook = took;
    }
  }

  /** Whether no change is known that was not dealt with; see {@link TreeWatcher#isCalm}. */
  public boolean isCalm() {
    return watcher.isCalm();
  }

  /** What {@link #next} has returned is dealt with. */
  public void dealtWith() {
    if (!isPending() && open.isEmpty()) {
      watcher.dealtWith();
    }
  }

  /** Has {@link #next} return. */
  public void wake() {
    watcher.wake();
  }

  /**
   * The next changes, after a quiet moment.
   *
   * @return empty after the limit, and after {@link #wake}
   */
  public Optional<Changed> next(Duration limit) throws InterruptedException {
    long end = clock.nanos() + limit.toNanos();
    while (true) {
      long now = clock.nanos();
      promote(now);
      if (!isPending() && isReached(lookAt(), now)) {
        lookUnasked(now);
      }
      if (isPending() && isReached(readyAt(), now) && !git.isBusy(lastAt, now)) {
        return Optional.of(take());
      }
      if (!isPending() && isReached(end, now)) {
        return Optional.empty();
      }
      Hints hints = watcher.await(Duration.ofNanos(Math.max(0, pause(now, end))));
      if (!hints.isEmpty()) {
        add(hints);
      } else if (!isPending()
          && open.isEmpty()
          && !isReached(earlier(end, lookAt()), clock.nanos())) {
        return Optional.empty(); // woken
      }
    }
  }

  private boolean isPending() {
    return everything || !folders.isEmpty();
  }

  private long readyAt() {
    Duration quiet = events > timing.many() ? timing.burstQuiet() : timing.quiet();
    return earlier(lastAt + quiet.toNanos(), firstAt + timing.longest().toNanos());
  }

  /** Times of this clock may overflow; only their differences count. */
  private static boolean isReached(long time, long now) {
    return now - time >= 0;
  }

  private static long earlier(long one, long other) {
    return one - other < 0 ? one : other;
  }

  /** When something is looked at though nothing is known of it. */
  private long lookAt() {
    if (lacking().isEmpty()) {
      return safety.nextAt();
    }
    synchronized (this) {
      return scannedAt + delay().toNanos();
    }
  }

  private void lookUnasked(long now) {
    beQuietAt(now);
    if (lacking().isEmpty()) {
      folders.addAll(safety.next(watcher, now));
    } else {
      everything = true;
      synchronized (this) {
        scannedAt = now; // It may fail, or be left for later: no sooner again than a whole one.
      }
    }
  }

  private long pause(long now, long end) {
    if (isPending()) {
      long ready = readyAt() - now;
      return ready > 0 ? ready : GIT_PAUSE.toNanos();
    }
    long until = earlier(end, lookAt());
    for (Map<String, Long> names : open.values()) {
      for (long since : names.values()) {
        until = earlier(until, since + timing.open().toNanos());
      }
    }
    return until - now;
  }

  private void add(Hints hints) {
    long now = clock.nanos();
    if (!isPending()) {
      firstAt = now;
    }
    if (hints.everything() || !hints.folders().isEmpty()) {
      lastAt = now;
    }
    events += hints.events();
    everything |= hints.everything();
    for (Path folder : hints.folders()) {
      folders.add(folder);
      open.remove(folder);
    }
    hints
        .open()
        .forEach(
            (folder, names) -> {
              Map<String, Long> known = open.computeIfAbsent(folder, _ -> new HashMap<>());
              names.forEach(name -> known.putIfAbsent(name, now));
            });
  }

  /** What is found now needs no quiet moment any more. */
  private void beQuietAt(long now) {
    firstAt = now - timing.quiet().toNanos();
    lastAt = firstAt;
  }

  /** A file that stays open, such as a log, is looked at now and then. */
  private void promote(long now) {
    for (Map.Entry<Path, Map<String, Long>> in : Map.copyOf(open).entrySet()) {
      Map<String, Long> names = in.getValue();
      if (names.values().removeIf(since -> now - since >= timing.open().toNanos())) {
        if (!isPending()) {
          beQuietAt(now);
        }
        folders.add(in.getKey());
      }
      if (names.isEmpty()) {
        open.remove(in.getKey());
      }
    }
  }

  private Changed take() {
    var writing = new HashSet<String>();
    open.forEach(
        (folder, names) -> {
          if (folder.startsWith(root)) { // Git's own folder may be above it.
            names.keySet().forEach(name -> writing.add(base(folder) + name));
          }
        });
    var changed = new Changed(everything ? Optional.empty() : Optional.of(folders), writing);
    folders.clear();
    everything = false;
    events = 0;
    return changed;
  }

  private String base(Path folder) {
    String relative = root.relativize(folder).toString();
    return relative.isEmpty() ? "" : relative + "/";
  }

  @Override
  public void close() {
    watcher.close();
  }
}
