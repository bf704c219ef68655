package dev.gpush.control.server;

/** How this gateway is replaced by that of another build. */
public interface Handover {
  /** Whether something besides control clients uses this gateway now, such as an ssh connection. */
  boolean isInUse();

  /** Ends the gateway; returns at once. */
  void end(String why);
}
