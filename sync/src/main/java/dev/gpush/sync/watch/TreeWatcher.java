package dev.gpush.sync.watch;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Reports folders in which something may have changed. Thread-safe.
 *
 * <p>It may report too much, never too little: what it cannot watch is {@link #lacking}, and what
 * it may have missed is reported as everything.
 */
public interface TreeWatcher extends AutoCloseable {
  /**
   * From now on changes of names and contents in this folder are reported, not those in folders
   * below it. A folder that is watched already may have been replaced, and is then watched again.
   */
  void watch(Path folder);

  /** Files of these names in this folder are not reported, until it is watched again. */
  default void ignore(Path folder, Predicate<String> names) {}

  /** Changes in this folder matter no longer. */
  void forget(Path folder);

  /** All that are watched. */
  default List<Path> folders() {
    return List.of();
  }

  /** What was reported since the last call; waits up to the limit for the first report. */
  Hints await(Duration limit) throws InterruptedException;

  /**
   * Whether all that has changed until now was reported, taken, and {@link #dealtWith}. A change
   * that was complete before this call counts.
   */
  boolean isCalm();

  /** Confirms that what {@link #await} has returned so far is counted as pending elsewhere. */
  void dealtWith();

  /** Has a call of {@link #await} return now. */
  void wake();

  /**
   * Why some changes are only found by looking at everything now and then, for the user: what the
   * operating system lacks. Empty when all are reported.
   */
  Optional<String> lacking();

  @Override
  void close();
}
