package dev.gpush.sync;

/**
 * How to push.
 *
 * @param overwrite what differs on a node goes to its trash instead of blocking
 * @param verify every path is looked at on the nodes, not only those that change; a watcher that
 *     pushes on each save may leave that to the push before a launch
 * @param compare what the nodes have was sent from elsewhere: before anything of it is replaced or
 *     deleted, somebody is asked
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
