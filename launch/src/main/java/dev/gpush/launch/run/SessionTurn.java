package dev.gpush.launch.run;

/**
 * The turn of the session's commands, which a launch has: nothing is sent to the nodes meanwhile. A
 * run that waits gives it to the others.
 */
public interface SessionTurn {
  /** The run waits; its files are kept on the nodes. */
  void release();

  /** It may start now. */
  void acquire() throws InterruptedException;
}
