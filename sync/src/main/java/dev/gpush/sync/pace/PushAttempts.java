package dev.gpush.sync.pace;

import dev.gpush.core.failure.GpushException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * How often a push has begun again, for each path that was the reason. When one is out of the way,
 * the next attempt may find another: so only a path that stays a reason says that the tree or a
 * node changes all the time. Not thread-safe.
 */
public final class PushAttempts {
  /** Because of one path. */
  public static final int MOST = 6;

  /** Of all paths: a program may make a new file for each attempt. */
  private static final int MOST_IN_ALL = 30;

  private final Map<String, Integer> failed = new HashMap<>();
  private int all;

  /**
   * Another attempt has failed.
   *
   * @param path the reason; empty: a conversation broke
   * @param why for the last one, from the number of all
   * @return how many this path has cost
   */
  public int failed(String path, IntFunction<GpushException> why) {
    all++;
    int now = failed.merge(path, 1, Integer::sum);
    if (now >= MOST || all >= MOST_IN_ALL) {
      throw why.apply(all);
    }
    return now;
  }

  /** All of them. */
  public int count() {
    return all;
  }
}
