package dev.gpush.control.server;

/** Receives the server's internal failures. */
public interface Incidents {
  /** A bug, with what the server was doing. */
  void bug(String during, Throwable bug);

  /**
   * A connection that did not keep to the protocol, came from another user, or was one too many.
   */
  void refused(String why);

  /** The path of the log, for the user. */
  String log();
}
