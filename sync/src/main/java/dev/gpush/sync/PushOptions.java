package dev.gpush.sync;

/**
 * How to push.
 *
 * @param overwrite what differs on a node goes to its trash instead of blocking
 * @param verify every path is checked on the nodes, not only those that change; a watcher that
 *     pushes on each save may leave that to the push before a launch
 * @param compare the files on the nodes were sent from elsewhere: the user is asked before any of
 *     them is replaced or deleted
 */
public record PushOptions(boolean overwrite, boolean verify, boolean compare) {
  public static PushOptions standard() {
    return new PushOptions(false, true, false);
  }

  public PushOptions overwriting() {
    return new PushOptions(true, verify, compare);
  }

  public PushOptions comparing() {
    return new PushOptions(overwrite, verify, true);
  }
}
