package dev.gpush.sync.watch;

import dev.gpush.core.task.Tasks;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/** Watches with inotify, the way of Linux: without work while nothing changes. */
final class InotifyWatcher implements TreeWatcher {
  /** Between two groups of events, so that a file that grows all the time costs little. */
  private static final long REST_MILLIS = 2;

  /** What is read in the place of bytes that are not UTF-8. */
  private static final char NO_UTF8 = '\uFFFD';

  private static final Set<Integer> WITHOUT_CONTENT =
      Set.of(
          Inotify.NO_ENTRY,
          Inotify.NOT_READABLE,
          Inotify.NO_ACCESS,
          Inotify.NOT_A_FOLDER,
          Inotify.NOT_CONNECTED,
          Inotify.STALE);

  private final Inotify inotify;
  private final int most;
  private final Tasks tasks;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // guarded by lock
  private final Map<Integer, Path> folders = new HashMap<>();
  private final Map<Path, Integer> watches = new HashMap<>();
  private final Map<Path, Predicate<String>> ignored = new HashMap<>();
  private final Hints.Collected collected = new Hints.Collected();
  private Optional<String> lacking = Optional.empty();
  private boolean isWoken;
  private boolean isHandedOver;
  private boolean isReading = true;
  private boolean isGivenUp;
  private boolean isClosed;

  private InotifyWatcher(Inotify inotify, int most, Tasks tasks) {
    this.inotify = inotify;
    this.most = most;
    this.tasks = tasks;
  }

  /**
   * Fails when this user has too many instances already.
   *
   * @param most a tree with more folders is not watched at all
   */
  static InotifyWatcher open(int most, Tasks tasks) throws Inotify.Failed {
    var watcher = new InotifyWatcher(new Inotify(), most, tasks.group("inotify"));
    if (!watcher.tasks.startOnThread("read", watcher::read)) {
      watcher.ended("");
    }
    return watcher;
  }

  /** Why an instance could not be made, for the user. */
  static String why(Inotify.Failed failed) {
    return failed.number() == Inotify.TOO_MANY_INSTANCES
        ? "no inotify instance is left for this user; raise "
            + InotifyLimits.words(InotifyLimits.INSTANCES)
        : "inotify does not work: " + failed.getMessage();
  }

  private void read() {
    String problem = "its thread failed; see gpush gateway logs";
    try {
      inotify.read(this::event, this::rest);
      problem = "";
    } catch (Inotify.Failed broken) {
      problem = String.valueOf(broken.getMessage());
    } finally {
      ended(problem);
    }
  }

  private void rest() {
    try {
      Thread.sleep(REST_MILLIS);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  /** The reading thread closes the file that it reads. */
  private void ended(String problem) {
    lock.lock();
    try {
      isReading = false;
      if (!problem.isEmpty()) {
        lacking = Optional.of("inotify does not work: " + problem);
        collected.everything();
      }
      inotify.close();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void event(int watch, int mask, String name) {
    lock.lock();
    try {
      if ((mask & (Inotify.OVERFLOW | Inotify.UNMOUNT)) != 0) {
        collected.everything();
      }
      Path folder = folders.get(watch);
      if (folder != null && !isIgnored(folder, mask, name)) {
        event(watch, folder, mask, name);
      }
      if (!collected.isEmpty()) {
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** A log that grows says nothing. A folder of the same name may be sent. */
  // holds lock
  private boolean isIgnored(Path folder, int mask, String name) {
    Predicate<String> names = ignored.get(folder);
    return names != null
        && (mask & Inotify.FOLDER) == 0
        && !name.isEmpty()
        && name.indexOf(NO_UTF8) < 0
        && names.test(name);
  }

  // holds lock
  private void event(int watch, Path folder, int mask, String name) {
    int own = Inotify.DELETE_SELF | Inotify.MOVE_SELF | Inotify.IGNORED;
    boolean isFolder = (mask & Inotify.FOLDER) != 0;
    if ((mask & own) != 0) {
      // It may have been replaced; the folder above tells. The root has none that is watched.
      if ((mask & Inotify.IGNORED) != 0) {
        folders.remove(watch);
        watches.remove(folder, watch);
      }
      collected.done(folder, "");
      Path above = folder.getParent();
      if (above != null && watches.containsKey(above)) {
        collected.done(above, "");
      }
    } else if ((mask
                & (Inotify.CLOSE_WRITE | Inotify.MOVED_FROM | Inotify.MOVED_TO | Inotify.DELETE))
            != 0
        || isFolder) {
      collected.done(folder, name);
    } else {
      collected.writing(folder, name);
    }
  }

  @Override
  public void watch(Path folder) {
    lock.lock();
    try {
      ignored.remove(folder);
      if (!isReading || isClosed || isGivenUp) {
        return;
      }
      if (watches.size() >= most && !watches.containsKey(folder)) {
        giveUp();
        return;
      }
      int watch = inotify.add(folder);
      folders.put(watch, folder);
      watches.put(folder, watch);
    } catch (Inotify.Failed failed) {
      // What cannot be read is not sent, and the folder above tells when that changes.
      if (!WITHOUT_CONTENT.contains(failed.number())) {
        lacking = Optional.of(whyUnwatched(folder, failed));
      }
    } finally {
      lock.unlock();
    }
  }

  /** Others need watches, too. */
  // holds lock
  private void giveUp() {
    isGivenUp = true;
    lacking =
        Optional.of(
            "it has more than "
                + most
                + " folders, half of what may be watched; ignore some, or raise "
                + InotifyLimits.words(InotifyLimits.WATCHES));
    watches.values().forEach(inotify::remove);
    watches.clear();
    ignored.clear();
    folders.clear();
    collected.everything();
    changed.signalAll();
  }

  private static String whyUnwatched(Path folder, Inotify.Failed failed) {
    return failed.number() == Inotify.TOO_MANY_WATCHES
        ? "not every folder can be watched; raise " + InotifyLimits.words(InotifyLimits.WATCHES)
        : folder + " cannot be watched: errno " + failed.number();
  }

  @Override
  public void ignore(Path folder, Predicate<String> names) {
    lock.lock();
    try {
      if (watches.containsKey(folder)) {
        ignored.put(folder, names);
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void forget(Path folder) {
    lock.lock();
    try {
      ignored.remove(folder);
      Integer watch = watches.remove(folder);
      // A folder that was renamed keeps its number under the new name.
      if (watch != null && folders.remove(watch, folder) && isReading) {
        inotify.remove(watch);
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Hints await(Duration limit) throws InterruptedException {
    long left = limit.toNanos();
    lock.lockInterruptibly();
    try {
      while (collected.isEmpty() && !isWoken && left > 0) {
        left = changed.awaitNanos(left);
      }
      isWoken = false;
      isHandedOver |= !collected.isEmpty();
      return collected.take();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean isCalm() {
    lock.lock();
    try {
      // In this order: what the reader has taken from the kernel it has announced before.
      return isReading
          && !inotify.hasEvents()
          && !inotify.isReading()
          && collected.isEmpty()
          && !isHandedOver;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void dealtWith() {
    lock.lock();
    try {
      isHandedOver = false;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void wake() {
    lock.lock();
    try {
      isWoken = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Optional<String> lacking() {
    lock.lock();
    try {
      return lacking;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public List<Path> folders() {
    lock.lock();
    try {
      return List.copyOf(watches.keySet());
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      isClosed = true;
      if (isReading) {
        inotify.stop();
      }
      while (isReading) {
        if (!changed.await(1, TimeUnit.SECONDS)) {
          break;
        }
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } finally {
      lock.unlock();
    }
    tasks.close();
  }
}
