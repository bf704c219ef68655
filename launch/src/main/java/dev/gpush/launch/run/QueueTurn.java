package dev.gpush.launch.run;

/**
 * The turn of the session's commands, which a launch has: nothing is sent to the nodes meanwhile. A
 * run that waits gives it to the others.
 */
public interface QueueTurn {
  /** The run waits; its files are kept on the nodes. */
  void leave();

  /** It may start now. */
  void enter() throws InterruptedException;
}
