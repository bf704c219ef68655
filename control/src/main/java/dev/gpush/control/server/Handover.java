package dev.gpush.control.server;

/** How this gateway makes room for another build's. */
public interface Handover {
  /**
   * Whether somebody other than control clients needs this gateway now, such as an open ssh
   * connection.
   */
  boolean isInUse();

  /** Ends the gateway; returns at once. */
  void end(String why);
}
