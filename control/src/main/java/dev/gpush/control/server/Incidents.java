package dev.gpush.control.server;

/** Where the server puts what went wrong inside it. */
public interface Incidents {
  /** A bug, with what was under way. */
  void bug(String during, Throwable bug);

  /**
   * A connection that did not keep to the protocol, came from another user, or was one too many.
   */
  void refused(String why);

  /** What to tell the user who wants to read more: the log's path. */
  String log();
}
